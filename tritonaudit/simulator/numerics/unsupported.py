"""What the engine does not know, said by name."""

from __future__ import annotations


class Unsupported(Exception):
    """An operation, type or mode that is not modelled: `name` is the operation's, `detail` what of it."""

    def __init__(self, name: str, detail: str = "") -> None:
        super().__init__(f"{name}: {detail}" if detail else name)
        self.name = name
        self.detail = detail
