"""How an audit gets on: what its stages tell whoever shows it. Imports nothing of ours."""

from __future__ import annotations


class Progress:
    """Shows nothing; what shows something overrides it."""

    def stage(self, name: str, items: int) -> None:
        """A stage begins that has so many items."""

    def doing(self, item: str, detail: str) -> None:
        """An item is being worked on: `detail` says at what."""

    def note(self, item: str, text: str) -> None:
        """Something that whoever waits should know of an item, and that no report says."""

    def done(self, item: str, summary: str) -> None:
        """An item of the stage is finished; `summary` says what it came to. One without a name only counts."""

    def beside(self) -> Progress:
        """The progress of a stage that goes on at the same time, from another thread."""
        return self


SILENT = Progress()
