"""Values as bytes and back: what is read is data of a declared type, and makes who reads it run nothing.

A type is a dataclass, an enumeration, a container of such, a tensor, a number, a text, bytes, a path or None. What is
declared as `Any` is what an argument of a launch can be: a number, a text, None, a tensor's description, or a tuple of
these; what is declared as `object` may hold containers, too.
"""

from __future__ import annotations

import base64
import json
import math
import reprlib
import sys
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints

_Reader = Callable[[Any], Any]

_SCALARS = (type(None), bool, int, float, str)
_NAME = ""
"""The key of a dataclass's name beside its fields."""
_MOST_ELEMENTS = 1 << 34


class NotData(Exception):
    """Why bytes are not what they should be, or a value cannot be written."""


def encode(value: Any) -> bytes:
    """The value as text in bytes. Raises NotData where `decode` could not make the same of it."""
    try:
        return json.dumps(written(value), separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise NotData(str(error)) from error


def decode(kind: Any, data: bytes | str) -> Any:
    """The value of that type which `encode` made the bytes of. Raises NotData for any other bytes."""
    try:
        plain = json.loads(data)
    except RecursionError as error:
        raise NotData("it is nested too deeply") from error
    except ValueError as error:
        raise NotData(f"{type(error).__name__}: {error}") from error
    return read(kind, plain)


def written(value: Any) -> Any:
    """What of it goes into JSON. Raises TypeError for what `read` could not make the same of."""
    if type(value) in _SCALARS:
        return value
    if isinstance(value, Enum):
        return written(value.value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {one.name: written(getattr(value, one.name)) for one in fields(value) if one.init}
        return {_NAME: type(value).__name__, **kept}
    if type(value) is tuple:
        return [*map(written, value)]
    return {_tag(value): _contents(value)}


def _tag(value: Any) -> str:
    for kind in (list, dict, frozenset, set, bytes, complex):
        if type(value) is kind:
            return kind.__name__
    if isinstance(value, Path):
        return Path.__name__
    if isinstance(value, Mapping):
        return dict.__name__
    if _is_tensor(value):
        return "tensor"
    raise TypeError(f"{type(value).__qualname__} is not data")


def _contents(value: Any) -> Any:
    if isinstance(value, Mapping):
        return [[written(key), written(member)] for key, member in value.items()]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, AbstractSet):
        return sorted(map(written, value), key=json.dumps)
    if isinstance(value, list):
        return [*map(written, value)]
    return _contents_of_tensor(value)


# -- reading -----------------------------------------------------------------------------------------------------------


def read(kind: Any, data: Any) -> Any:
    """The value of that type which `written` made `data` of. Raises NotData for other data."""
    reader = _reader(kind)
    try:
        return reader(data)
    except RecursionError as error:
        raise NotData("it is nested too deeply") from error
    except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        raise NotData(f"{type(error).__name__}: {error}") from error


@cache
def _reader(kind: Any) -> _Reader:
    if kind is Any:
        return _argument
    if kind is object:
        return _anything
    if isinstance(kind, type) and is_dataclass(kind):
        return _dataclass_reader(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum_reader(kind)
    if kind in (bytes, complex, Path) or _is_tensor_type(kind):
        return _tagged
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is tuple:
        return _tuple_reader(arguments)
    if origin in (Union, types.UnionType):
        return _union_reader(arguments)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping_reader(*arguments)
    if origin is not None and issubclass(origin, Collection):
        return _collection_reader(origin, *arguments)
    if kind in _SCALARS or kind is None:
        return lambda data: _plain(kind, data)
    raise TypeError(f"{kind} is no type of data")


def _plain(kind: Any, data: Any) -> Any:
    if type(data) is kind or (kind is None and data is None):
        return data
    if kind is float and type(data) is int:
        return float(data)
    raise TypeError(f"{_shown(data)} is no {getattr(kind, '__name__', kind)}")


def _dataclass_reader(kind: Any) -> _Reader:
    hints = get_type_hints(kind)
    readers = {one.name: hints[one.name] for one in fields(kind) if one.init}

    def read_dataclass(data: Any) -> Any:
        if type(data) is not dict or data.get(_NAME) != kind.__name__ or len(data) != len(readers) + 1:
            raise TypeError(f"{_shown(data)} is no {kind.__name__}")
        return kind(**{name: _reader(hint)(data[name]) for name, hint in readers.items()})

    return read_dataclass


def _enum_reader(kind: type[Enum]) -> _Reader:
    def read_enum(data: Any) -> Any:
        if type(data) not in _SCALARS:
            raise TypeError(f"{_shown(data)} is no {kind.__name__}")
        return kind(data)

    return read_enum


def _tuple_reader(kinds: tuple[Any, ...]) -> _Reader:
    is_even = len(kinds) == 2 and kinds[1] is Ellipsis
    readers = [_reader(kind) for kind in kinds if kind is not Ellipsis]

    def read_tuple(data: Any) -> tuple[Any, ...]:
        items = _items(data, list)
        if is_even:
            return tuple(map(readers[0], items))
        return tuple(reader(item) for reader, item in zip(readers, items, strict=True))

    return read_tuple


def _items(data: Any, kind: type) -> Any:
    if type(data) is not kind:
        raise TypeError(f"{_shown(data)} is no {kind.__name__}")
    return data


def _collection_reader(origin: Any, kind: Any) -> _Reader:
    reader = _reader(kind)
    made: Any = frozenset if issubclass(origin, AbstractSet) else list if origin is list else tuple

    def read_collection(data: Any) -> Any:
        if type(data) is dict:
            ((_, data),) = data.items()
        return made(map(reader, _items(data, list)))

    return read_collection


def _mapping_reader(keys: Any, values: Any) -> _Reader:
    key_reader, value_reader = _reader(keys), _reader(values)

    def read_mapping(data: Any) -> Any:
        return {key_reader(key): value_reader(value) for key, value in _items(data["dict"], list)}

    return read_mapping


def _union_reader(kinds: tuple[type, ...]) -> _Reader:
    """Of dataclasses the name tells which one it is; of others it is the first that takes the data."""
    named: dict[Any, Any] = {kind.__name__: kind for kind in kinds if is_dataclass(kind)}
    scalars = {kind for kind in kinds if kind in _SCALARS}
    others = [_reader(kind) for kind in kinds if not is_dataclass(kind)]

    def read_union(data: Any) -> Any:
        if type(data) is dict and data.get(_NAME) in named:
            return _reader(named[data[_NAME]])(data)
        if type(data) in scalars:
            return data
        for reader in others:
            try:
                return reader(data)
            except (TypeError, ValueError, LookupError):
                continue
        names = ", ".join(getattr(kind, "__name__", str(kind)) for kind in kinds)
        raise TypeError(f"{_shown(data)} is not one of {names}")

    return read_union


def _argument(data: Any) -> Any:
    if type(data) is list:
        return tuple(map(_argument, data))
    if type(data) is not dict:
        return data
    if _NAME in data:
        from tritonaudit.capture.launch import TensorArgument

        return _reader(TensorArgument)(data)
    return _tagged(data)


def _anything(data: Any) -> Any:
    if type(data) is list:
        return tuple(map(_anything, data))
    if type(data) is not dict or _NAME in data:
        return _argument(data)
    ((tag, content),) = data.items()
    if tag in ("list", "set", "frozenset"):
        made: Any = {"list": list, "set": set, "frozenset": frozenset}[tag]
        return made(map(_anything, _items(content, list)))
    if tag == "dict":
        return {_anything(key): _anything(value) for key, value in _items(content, list)}
    return _tagged(data)


def _tagged(data: Any) -> Any:
    ((tag, content),) = _items(data, dict).items()
    if tag == "bytes":
        return base64.b64decode(content, validate=True)
    if tag == "complex":
        real, imaginary = content
        return complex(_plain(float, real), _plain(float, imaginary))
    if tag == Path.__name__:
        return Path(content)
    if tag == "tensor":
        return _tensor(*content)
    raise TypeError(f"{_shown(data)} is not data")


def _shown(data: Any) -> str:
    return reprlib.repr(data)


# -- tensors -----------------------------------------------------------------------------------------------------------


def _is_tensor(value: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def _is_tensor_type(kind: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and kind is torch.Tensor


def _contents_of_tensor(value: Any) -> Any:
    import torch

    plain = value.detach().cpu().clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)
    return [str(value.dtype).removeprefix("torch."), list(value.shape), base64.b64encode(plain.numpy()).decode()]


def _tensor(name: str, shape: Sequence[int], content: str) -> Any:
    import torch

    dtype = getattr(torch, name)
    if not isinstance(dtype, torch.dtype) or any(type(size) is not int or size < 0 for size in shape):
        raise TypeError(f"{name} {_shown(shape)} is not a tensor")
    held = bytearray(base64.b64decode(content, validate=True))
    if math.prod(shape) > _MOST_ELEMENTS or math.prod(shape) * dtype.itemsize != len(held):
        raise ValueError(f"{len(held)} bytes are no tensor of {_shown(shape)}")
    if not held:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(held, dtype=torch.uint8).view(dtype).reshape(shape)


def given_by(work: Callable[..., Any]) -> Any:
    """The type that a function declares to give; of a `partial` that of its function."""
    while hasattr(work, "func"):
        work = work.func
    declared = types.SimpleNamespace(__annotations__={"return": work.__annotations__["return"]})
    return get_type_hints(declared, sys.modules[work.__module__].__dict__)["return"]
