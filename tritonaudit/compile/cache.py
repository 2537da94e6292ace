"""Keeps what programs compiled to, by content, so that an unchanged program is not compiled again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import tempfile
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from tritonaudit.cache_folder import cache_folder
from tritonaudit.capture.launch import Program
from tritonaudit.compile.facts import Variant
from tritonaudit.compile.installed import triton_path, triton_version

_OURS = (
    *(
        f"compile/{name}.py"
        for name in (
            "accesses",
            "amdgcn",
            "analyse",
            "cache",
            "diagnostics",
            "facts",
            "narrow",
            "occupancy",
            "pipeline",
            "ptx",
            "ptxas",
            "reach",
            "ttir",
        )
    ),
    "hardware/targets.json",
    "hardware/targets.py",
)
_TRITONS = ("TRITON_", "MLIR_", "LLVM_", "DISABLE_LLVM_OPT", "DISABLE_PTXAS_OPT", "AMDGCN_", "NVPTX_")
_HARMLESS = ("TRITON_CACHE_DIR", "TRITON_HOME", "TRITON_DUMP_DIR", "TRITON_OVERRIDE_DIR")


def default_folder() -> Path:
    """Where results are kept."""
    return cache_folder("compile")


@dataclass(frozen=True)
class Cache:
    """Results in files of a folder, each named after all that it depends on.

    A folder that cannot be written keeps nothing, an entry that cannot be read is none.
    """

    folder: Path

    def get(self, program: Program) -> Variant | None:
        """What the program came to under this version of Triton, without importing that; None if it is not known."""
        try:
            return _read(Variant, json.loads(self._path(program).read_text("utf-8")))
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def put(self, program: Program, variant: Variant) -> None:
        """Keep what the program came to."""
        path = self._path(program)
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
                json.dump(_written(variant), file)
            os.replace(file.name, path)

    def _path(self, program: Program) -> Path:
        content = {
            "ttir": program.ttir,
            "target": program.target,
            "options": sorted((name, repr(value)) for name, value in program.options),
            "environment": sorted(item for item in os.environ.items() if _matters(item[0])),
            "triton": _triton(),
            "tritonaudit": _version_of_ours(),
        }
        name = hashlib.sha256(json.dumps(content).encode()).hexdigest()
        return self.folder / name[:2] / f"{name[2:]}.json"


def _matters(variable: str) -> bool:
    return variable.startswith(_TRITONS) and variable not in _HARMLESS


def _triton() -> str:
    """Which Triton compiles: its version, and where it is, since two of one version may be built differently."""
    return f"{triton_version()} {triton_path()}"


@cache
def _version_of_ours() -> str:
    """A hash of the code that makes a result of a compilation."""
    here = Path(__file__).parent.parent
    return hashlib.sha256(b"\0".join((here / name).read_bytes() for name in _OURS)).hexdigest()


# -- dataclasses as JSON ---------------------------------------------------------------------------------------------

_Type = TypeVar("_Type")


def _written(value: Any) -> Any:
    if is_dataclass(value):
        return {field.name: _written(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    return [_written(item) for item in value] if isinstance(value, tuple) else value


def _read(kind: type[_Type], data: Any) -> _Type:
    """The value of that type which `_written` made `data` of; ValueError, TypeError or KeyError for other data."""
    result: Any
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        result = kind(**{field.name: _read(hints[field.name], data[field.name]) for field in fields(kind)})
    elif isinstance(kind, type) and issubclass(kind, Enum):
        result = kind(data)
    elif get_origin(kind) is tuple:
        result = _read_tuple(get_args(kind), data)
    elif get_origin(kind) is UnionType:
        (inner,) = (part for part in get_args(kind) if part is not NoneType)
        result = None if data is None else _read(inner, data)
    elif type(data) is kind or (kind is float and type(data) is int):
        result = data
    else:
        raise TypeError(f"{data!r} is no {kind}")
    return result  # type: ignore[no-any-return]


def _read_tuple(kinds: tuple[Any, ...], data: Any) -> tuple[Any, ...]:
    if type(data) is not list:
        raise TypeError(f"{data!r} is no list")
    if kinds[-1] is Ellipsis:
        return tuple(_read(kinds[0], item) for item in data)
    return tuple(_read(kind, item) for kind, item in zip(kinds, data, strict=True))
