"""Finds a name of Triton as people write it: `tl.load`, `load`, `libdevice.tanh`."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from tritonaudit.api.table import TENSOR, UNLISTED, Name, Table

_SHORT = {
    "tl": "triton.language",
    "gl": "triton.experimental.gluon.language",
    "gluon": "triton.experimental.gluon",
    "libdevice": "triton.language.extra.libdevice",
    "tensor": TENSOR,
    "math": "triton.language.math",
}
_SCOPES = (
    "triton.language",
    "triton",
    "triton.testing",
    TENSOR,
    "triton.language.extra.libdevice",
    "triton.experimental.gluon.language",
    "triton.runtime",
    "triton.tools.tensor_descriptor",
)
"""Where a bare name is looked for."""


def find(table: Table, text: str) -> list[Name]:
    """The names that the text may mean; of a bare one, each different thing that some release has."""
    found: list[Name] = []
    for name in map(table.name, _candidates(text)):
        known = any(definition is not UNLISTED for definition in name.definitions.values())
        if known and all(name.definitions != other.definitions for other in found):
            found.append(name)
    return found


def similar(table: Table, text: str) -> list[str]:
    """Names of any release that are spelled alike, the closest first."""
    scope, _, last = next(_candidates(text)).rpartition(".")
    scopes = (scope,) if "." in text else _SCOPES
    known = {name: where for where in reversed(scopes) for name in table.ever(where)}
    return [f"{known[name]}.{name}" for name in difflib.get_close_matches(last, known, 3, 0.7)]


def _candidates(text: str) -> Iterator[str]:
    head, _, rest = text.partition(".")
    if head == "triton":
        yield text
    elif rest:
        yield f"{_SHORT.get(head, f'triton.{head}')}.{rest}"
        if head not in _SHORT:
            yield f"triton.language.{text}"
    else:
        yield from (f"{scope}.{text}" for scope in _SCOPES)
