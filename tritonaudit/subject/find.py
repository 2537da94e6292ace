"""Which files hold subjects. Only their text is read; nothing of the user's is imported."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path

_SPEC_NAME = re.compile(r"audit_.*\.py")
_VARIANT_NAME = re.compile(r"v\d.*\.py")
_IMPORTS_US = re.compile(rb"^\s*(?:from|import)\s+tritonaudit\b", re.MULTILINE)
_SUBJECT = re.compile(rb"^\w+\s*=\s*(?:\w+\.)?Subject\(", re.MULTILINE)
_PAIR = re.compile(rb"^class\s+ModelNew\b", re.MULTILINE)
_MODEL = re.compile(rb"^class\s+Model\b", re.MULTILINE)
_PAIR_INPUTS = re.compile(rb"^def\s+get_inputs\b", re.MULTILINE)


class SubjectKind(Enum):
    """How a file says what is to be audited."""

    SPEC = "a spec file: `audit_*.py` that imports tritonaudit, with `Subject`s"
    PAIR = "a KernelBench pair: `ModelNew`, beside `Model` and `get_inputs`"
    VARIANT = "a variant: `OP/v*.py` with `triton_OP`"


def subject_files(files: Iterable[Path]) -> tuple[Path, ...]:
    """Those of the files that hold subjects."""
    return tuple(path for path in files if kind_of(path) is not None)


def unnoticed(files: Iterable[Path]) -> Iterator[Path]:
    """Those that make subjects as a spec file does, and have another name than one."""
    for path in files:
        data = _text_of(path) if path.suffix == ".py" and not _SPEC_NAME.fullmatch(path.name) else b""
        if _IMPORTS_US.search(data) and _SUBJECT.search(data) and kind_of(path) is None:
            yield path


def imports_us(path: Path) -> bool:
    """Whether a file imports tritonaudit."""
    return _IMPORTS_US.search(_text_of(path)) is not None


def kind_of(path: Path) -> SubjectKind | None:
    """How a file says what is to be audited; None for a file that does not, or that cannot be read."""
    is_spec, is_variant = _SPEC_NAME.fullmatch(path.name), _VARIANT_NAME.fullmatch(path.name)
    data = _text_of(path)
    if is_spec and _IMPORTS_US.search(data):
        return SubjectKind.SPEC
    if _PAIR.search(data):
        return SubjectKind.PAIR
    return SubjectKind.VARIANT if is_variant and _defines(data, f"triton_{operation_of(path)}") else None


def operation_of(variant: Path) -> str:
    """The operation of which a file is a variant: the name of its folder."""
    return variant.absolute().parent.name


def reference_of(pair: Path) -> Path | None:
    """The file with the `Model` and `get_inputs` of a pair: its own, or else the one beside it that fits best.

    None where there is none, or several whose names are equally like the pair's.
    """
    if _is_reference(pair):
        return pair
    candidates = [path for path in sorted(pair.parent.glob("*.py")) if path != pair and _is_reference(path)]
    alike = [len(_common(path.stem, pair.stem)) for path in candidates]
    if len(candidates) > 1 and alike.count(max(alike)) > 1:
        return None
    return candidates[alike.index(max(alike))] if candidates else None


def variants_in(folder: Path) -> tuple[Path, ...]:
    """The variants in a folder, sorted by name."""
    return tuple(path for path in sorted(folder.glob("v*.py")) if kind_of(path) is SubjectKind.VARIANT)


def _defines(data: bytes, name: str) -> bool:
    pattern = rf"^(?:def\s+{re.escape(name)}\s*\(|{re.escape(name)}\s*=)"
    return re.search(pattern.encode(), data, re.MULTILINE) is not None


def _text_of(path: Path) -> bytes:
    """Empty where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _is_reference(path: Path) -> bool:
    data = _text_of(path)
    return _MODEL.search(data) is not None and _PAIR_INPUTS.search(data) is not None


def _common(one: str, other: str) -> str:
    """The beginning that two names share."""
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]
