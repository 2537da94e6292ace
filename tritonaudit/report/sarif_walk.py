"""sarif-om's objects as plain data."""

from __future__ import annotations

from typing import Any

import attr

_ALWAYS = "level"
"""Kept where it has its default value: readers disagree about what an absent one means."""


def plain(value: Any) -> Any:
    """The value with every sarif-om object turned into a dict of what it says beyond its defaults.

    jschema-to-python would do it too, twenty times slower, and drops every default.
    """
    if attr.has(type(value)):
        return {name: plain(item) for name, item in _said(value)}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def _said(model: Any) -> list[tuple[str, Any]]:
    said = []
    for field in attr.fields(type(model)):
        name, item = field.metadata["schema_property_name"], getattr(model, field.name)
        if item is not None and (item != _default(field) or name == _ALWAYS):
            said.append((name, item))
    return said


def _default(field: Any) -> Any:
    return field.default.factory() if hasattr(field.default, "factory") else field.default
