"""The open files of an editor: each newest text is audited a moment after it was typed, older ones are given up."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeVar

from lsprotocol import types as lsp

from tritonaudit.compile.last import last_compiled
from tritonaudit.config import ConfigError
from tritonaudit.finding import Finding, Problem, sentence_of
from tritonaudit.fixes.applying import apply_fixes
from tritonaudit.server.auditing import Audited, Auditor, Superseded
from tritonaudit.server.diagnostics import diagnostic, moved
from tritonaudit.server.hovers import addresses, pages, triton_name
from tritonaudit.server.lenses import lenses, widths
from tritonaudit.server.texts import Text
from tritonaudit.source.outline import Unparsable, outline

PAUSE = 0.03
"""Seconds after the last change before a text is audited."""
_IDLE = 2.0
"""Seconds without a change before memory is tidied, which would hold up an audit for some tenths of one."""
_MOST_UNTIDIED = 50
"""After so many audits it is tidied nevertheless."""

Found = TypeVar("Found")
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Opened:
    """A file that is open. `known` is what its newest audited text, `known_text`, came to."""

    uri: str
    path: Path
    text: Text
    known: Audited | None = None
    known_text: Text | None = None
    good: tuple[tuple[Finding, ...], Text] | None = None
    task: asyncio.Task[None] | None = None
    run: int = 0

    @property
    def is_known(self) -> bool:
        """Whether the newest text has been audited."""
        return self.known is not None and self.known_text is self.text


@dataclass
class Editor:
    """What the session tells: the diagnostics of a text, and messages that people should see, or may."""

    publish: Callable[[str, int | None, list[lsp.Diagnostic]], None]
    show: Callable[[str], None]
    log: Callable[[str], None]


@dataclass
class Session:
    """All audits are made one after the other in a thread of their own; everything else is the event loop's."""

    editor: Editor
    auditor: Auditor = field(default_factory=Auditor)
    opened: dict[str, Opened] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, "audit")
        self._reported: set[str] = set()
        self._idle: asyncio.TimerHandle | None = None
        self._audits = 0

    def open(self, uri: str, path: Path, text: Text) -> None:
        """A file was opened with this text."""
        if (before := self.opened.get(uri)) is not None:
            self._stop(before)
        self.opened[uri] = Opened(uri, path, text)
        self._start(self.opened[uri], pause=0)

    def change(self, uri: str, changes: Sequence[lsp.TextDocumentContentChangeEvent], version: int) -> None:
        """Its text was changed."""
        if (one := self.opened.get(uri)) is not None:
            one.text = one.text.changed(list(changes), version)
            self._start(one, PAUSE)

    def close(self, uri: str) -> None:
        """It is not open any more, and nothing is said of it."""
        if (one := self.opened.pop(uri, None)) is not None:
            self._stop(one)
            self.editor.publish(uri, None, [])

    def refresh(self) -> None:
        """Files on the disk have changed, on which any open one may rest."""
        self._thread.submit(self.auditor.refresh)
        self._reported.clear()
        for one in self.opened.values():
            one.known_text = None
            self._start(one, PAUSE)

    async def settled(self, uri: str) -> Opened | None:
        """The file when its newest text has been audited; None where that could not be done."""
        one = self.opened.get(uri)
        while one is not None and not one.is_known and one.task is not None and not one.task.done():
            await asyncio.wait([one.task])
        return one if one is not None and one.is_known else None

    def shown(self, one: Opened) -> list[tuple[Finding, lsp.Diagnostic]]:
        """The findings of its audited text with the diagnostics that they are in the editor."""
        findings = one.known.audit.findings if one.known is not None else ()
        return [(finding, diagnostic(finding, one.path, one.text)) for finding in findings]

    def fixed(self, path: Path, text: Text) -> str:
        """The text of a file with all safe fixes applied; in the thread of the audits."""

        def look(source: str) -> Sequence[Finding]:
            return self.auditor.audit(path, source).audit.findings

        found = apply_fixes(text.source, look).text
        look(text.source)  # what is known of the text has its places in it again
        return found

    async def hover(self, one: Opened, position: lsp.Position) -> str:
        """What is known of a place of its newest text, once that is audited, as Markdown."""
        if one.known is None or not one.is_known:
            return ""
        return await self.ask(partial(_known_of, one.known, one.path, one.text, position))

    async def ask(self, question: Callable[[], Found]) -> Found:
        """What a question comes to that the thread of the audits has to answer."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, question)

    def end(self) -> None:
        """Give up whatever is under way."""
        for one in self.opened.values():
            self._stop(one)
        if self._idle is not None:
            self._idle.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _stop(self, one: Opened) -> None:
        one.run += 1
        if one.task is not None:
            one.task.cancel()

    def _start(self, one: Opened, pause: float) -> None:
        self._stop(one)
        loop = asyncio.get_running_loop()
        one.task = loop.create_task(self._audit(one, one.text, one.run, pause))
        if self._idle is not None:
            self._idle.cancel()
        self._idle = loop.call_later(_IDLE, self._tidy)
        self._audits += 1
        if self._audits >= _MOST_UNTIDIED:
            self._tidy()

    def _tidy(self) -> None:
        self._audits = 0
        self._thread.submit(gc.collect)

    async def _audit(self, one: Opened, text: Text, run: int, pause: float) -> None:
        await asyncio.sleep(pause)
        audited = await self.ask(lambda: self._audited(one, text, run))
        if isinstance(audited, ConfigError):
            self._show_problems(audited.problems)
            if one.run == run:
                one.known = one.known_text = one.good = None
                self.editor.publish(one.uri, text.version, [])
        if not isinstance(audited, Audited) or one.run != run:
            return
        one.known, one.known_text = audited, text
        for problem in audited.audit.problems:
            self.editor.log(sentence_of(problem))
        self._publish(one, audited, text)

    def _audited(self, one: Opened, text: Text, run: int) -> Audited | ConfigError | None:
        """What the text comes to; None where it is not asked for any more, or a defect of ours ended it."""
        try:
            return self.auditor.audit(one.path, text.source, lambda: one.run != run)
        except Superseded:
            return None
        except ConfigError as error:
            return error
        except Exception:  # a defect of ours costs one text, not the session
            _log.exception("the audit of %s failed", one.path)
        return None

    def _publish(self, one: Opened, audited: Audited, text: Text) -> None:
        """Say what was found; in a text that cannot be parsed, what was before still holds where it is unchanged."""
        findings = audited.audit.findings
        if audited.is_read:
            one.good = findings, text
        elif one.good is not None:
            findings = (*findings, *moved(*one.good, text))
        found = [diagnostic(finding, one.path, text) for finding in findings]
        self.editor.publish(one.uri, text.version, found)

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        """Show what is wrong with a configuration, once."""
        said = "\n".join(map(sentence_of, problems))
        if said not in self._reported:
            self._reported.add(said)
            self.editor.show(f"tritonaudit: {said}")


def _known_of(known: Audited, path: Path, text: Text, position: lsp.Position) -> str:
    """What is known of a place of this text, which has come to that."""
    line, column = text.place(position)
    said = list(pages(known.audit.findings, line, column))
    address = list(addresses(known.kernels, line, column))
    named: list[str] = []
    with suppress(Unparsable):
        module = outline(str(path), "\n".join(text.lines))
        if address:
            address = ["\n".join((*address, *widths(module, last_compiled(path), line)))]
        named = list(triton_name(module, line, column))
    return "\n\n---\n\n".join((*said, *address, *named))


def lenses_of(path: Path, text: Text) -> list[lsp.CodeLens]:
    """What the last compilation of the kernels that a text launches came to."""
    known = last_compiled(path)
    with suppress(Unparsable):
        return lenses(outline(str(path), "\n".join(text.lines)), known, text) if known else []
    return []
