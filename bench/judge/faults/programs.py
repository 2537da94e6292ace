"""Programs of kernels that were built for calls, and whether a changed kernel has others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from importlib import import_module
from typing import Any

_LOCATION = re.compile(r"\s*\bloc\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)")


class Programs:
    """Builds each program once, and again where its kernel has changed."""

    def __init__(self, build: Any) -> None:
        self._build = build
        self._known: dict[tuple[int, str], Any] = {}
        self._asked: dict[str, tuple[Any, ...]] = {}

    def build(self, source: Any, *asked: Any) -> Any:
        """What Triton's front end makes of a source, a target, a name and options."""
        parts = (source.signature, source.constants, source.attrs, *asked)
        key = (id(source.fn), repr(parts))
        if key not in self._known:
            built = self._known[key] = self._build(source, *asked)
            if (text := getattr(built.outcome, "ttir", None)) is not None:
                self._asked.setdefault(text, (source, *asked))
        return self._known[key]

    def kernels(self) -> list[Any]:
        """The jit functions that were launched."""
        return list({id(asked[0].fn): asked[0].fn for asked in self._asked.values()}.values())

    def forget(self, kernel: Any) -> None:
        """A jit function has changed."""
        kernel.device_caches.clear()
        for key in [key for key in self._known if key[0] == id(kernel)]:
            del self._known[key]

    def are_same(self, texts: Collection[str], kernels: Sequence[Any]) -> bool:
        """Whether the programs with these texts, as far as they are of these kernels, are still what they were."""
        for text in texts:
            asked = self._asked.get(text)
            if asked is None or not any(asked[0].fn is kernel for kernel in kernels):
                continue
            now = getattr(self.build(*asked).outcome, "ttir", None)
            if now is None or _plain(now) != _plain(text):
                return False
        return True


@contextmanager
def built_once() -> Iterator[Programs]:
    """Meanwhile launches have programs that are built once."""
    record: Any = import_module("tritonaudit.capture.record")
    build = record.build
    programs = Programs(build)
    record.build = programs.build
    try:
        yield programs
    finally:
        record.build = build


@lru_cache(maxsize=256)
def _plain(text: str) -> str:
    """A program without the places in the source from which it comes."""
    lines = (line for line in text.splitlines() if not line.startswith("#loc"))
    return "\n".join(_LOCATION.sub("", line) for line in lines)
