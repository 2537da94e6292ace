"""Dataclasses as JSON and back: data that cannot make who reads it run anything, and wrong data is refused.

Fields are dataclasses, enumerations, paths, tuples, numbers, texts, None, or of any type: then they are what an
argument of a launch can be.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tritonaudit.capture.launch import TensorArgument

_Type = TypeVar("_Type")
_Reader = Callable[[Any], Any]

_SCALARS = (NoneType, bool, int, float, str)


def written(value: Any) -> Any:
    """What of it goes into JSON. Raises TypeError for what `read` could not make the same of."""
    if isinstance(value, TensorArgument):
        return {TensorArgument.__name__: _fields(value)}
    if is_dataclass(value) and not isinstance(value, type):
        return _fields(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Path):
        return str(value)
    if type(value) is tuple:
        return [written(item) for item in value]
    if type(value) not in _SCALARS:
        raise TypeError(f"{value!r} is no data")
    return value


def _fields(value: Any) -> dict[str, Any]:
    return {field.name: written(getattr(value, field.name)) for field in fields(value)}


def read(kind: type[_Type], data: Any) -> _Type:
    """The value of that type which `written` made `data` of; ValueError, TypeError or KeyError for other data."""
    reader: Any = _reader
    return reader(kind)(data)  # type: ignore[no-any-return]


@cache
def _reader(kind: Any) -> _Reader:
    if kind is Any:
        return _read_any
    if is_dataclass(kind):
        return _dataclass_reader(kind)
    if get_origin(kind) is tuple:
        return _tuple_reader(get_args(kind))
    if get_origin(kind) is UnionType:
        (inner,) = (_reader(part) for part in get_args(kind) if part is not NoneType)
        return lambda data: None if data is None else inner(data)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    return lambda data: _read_plain(kind, data)


def _read_plain(kind: Any, data: Any) -> Any:
    if type(data) is kind or (kind is float and type(data) is int):
        return data
    if kind is Path and type(data) is str:
        return Path(data)
    raise TypeError(f"{data!r} is no {kind}")


def _read_any(data: Any) -> Any:
    if type(data) is list:
        return tuple(map(_read_any, data))
    if type(data) is dict:
        return _reader(TensorArgument)(data[TensorArgument.__name__])
    return data


def _dataclass_reader(kind: Any) -> _Reader:
    hints = get_type_hints(kind)
    readers = [(field.name, _reader(hints[field.name])) for field in fields(kind)]
    return lambda data: kind(**{name: reader(data[name]) for name, reader in readers})


def _tuple_reader(kinds: tuple[Any, ...]) -> _Reader:
    readers = [_reader(kind) for kind in kinds if kind is not Ellipsis]
    is_even = kinds[-1] is Ellipsis

    def read_tuple(data: Any) -> tuple[Any, ...]:
        if type(data) is not list:
            raise TypeError(f"{data!r} is no list")
        if is_even:
            return tuple(map(readers[0], data))
        return tuple(reader(item) for reader, item in zip(readers, data, strict=True))

    return read_tuple


def write_whole(path: Path, text: str) -> None:
    """Write the file, which others see as a whole or not at all; where that cannot be done, nothing is written."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
            file.write(text)
        os.replace(file.name, path)
