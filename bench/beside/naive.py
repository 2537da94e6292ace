"""Nine checks as one would write them first: a regular expression each, over the text of a kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from bench.beside.reports import Complaint
from tritonaudit.source.outline import JitFunction, Module

_LOAD = re.compile(r"\btl\.load\(")
_POINTER = re.compile(r"\btl\.load\(\s*([^,()]+)[,)]")
_ARANGE = re.compile(r"\barange\(\s*(\d+)\s*,\s*(\d+)\s*\)")
_DEF = re.compile(r"^\s*def ", re.MULTILINE)
_MAXIMUM = re.compile(r"-\s*\w*max")


def complaints(module: Module, function: JitFunction) -> Iterator[Complaint]:
    """What the expressions match in a kernel, comments and all."""
    text = "\n".join(module.lines[function.first_line - 1 : function.last_line])
    for code, places in _CHECKS.items():
        for place in places(text):
            yield Complaint(function.first_line + text.count("\n", 0, place), code)


def _unmasked_loads(text: str) -> Iterator[int]:
    for match in _LOAD.finditer(text):
        if not re.search(r"\bmask\s*=", _arguments(text, match.end())):
            yield match.start()


def _odd_aranges(text: str) -> Iterator[int]:
    for match in _ARANGE.finditer(text):
        length = int(match[2]) - int(match[1])
        if length & (length - 1):
            yield match.start()


def _no_constexpr(text: str) -> Iterator[int]:
    definition = _DEF.search(text)
    if definition and "constexpr" not in text:
        yield definition.start()


def _same_pointers(text: str) -> Iterator[int]:
    seen: set[str] = set()
    for match in _POINTER.finditer(text):
        pointer = "".join(match[1].split())
        if pointer in seen:
            yield match.start()
        seen.add(pointer)


def _unshifted_exps(text: str) -> Iterator[int]:
    for match in re.finditer(r"\bexp2?\(", text):
        if not _MAXIMUM.search(_arguments(text, match.end())):
            yield match.start()


def _matching(expression: str) -> Callable[[str], Iterator[int]]:
    pattern = re.compile(expression, re.MULTILINE)
    return lambda text: (match.start() for match in pattern.finditer(text))


def _arguments(text: str, start: int) -> str:
    """What stands between the parenthesis that opened before `start` and the one that closes it."""
    depth = 1
    for end in range(start, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if not depth:
            return text[start:end]
    return text[start:]


_CHECKS: dict[str, Callable[[str], Iterator[int]]] = {
    "load-without-mask": _unmasked_loads,
    "arange-not-a-power-of-2": _odd_aranges,
    "no-constexpr": _no_constexpr,
    "break": _matching(r"\bbreak\b"),
    "if-without-where": _matching(r"^[ \t]*(?:el)?if \w+ *<(?!.*tl\.where)"),
    "arange-times-stride": _matching(r"\barange\([^)]*\)(?:\[[^\]]*\])?\s*\*\s*\w*stride"),
    "same-pointer": _same_pointers,
    "literal-arange": _matching(r"\barange\(\s*0\s*,\s*\d+\s*\)"),
    "exp-without-max": _unshifted_exps,
}
