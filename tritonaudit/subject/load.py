"""Makes subjects of files by running them. For processes in which user code runs, and nowhere else."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

from tritonaudit.absent.said import LeftOut, Missing, Unrun, newly_said, said, say
from tritonaudit.absent.stand_in import origin_of
from tritonaudit.subject.execute import LoadError, run_file, running
from tritonaudit.subject.find import SubjectKind, imports_us, kind_of, operation_of, reference_of, variants_in
from tritonaudit.subject.guessed import function_in, guessed_subjects
from tritonaudit.subject.model import VARIABLE_SUFFIX, Subject

__all__ = ["LoadError", "load_subjects"]


def load_subjects(path: Path) -> tuple[Subject, ...]:
    """The subjects of a spec file, a KernelBench pair or a variant, or of all variants in a folder.

    Those of any other file that does not import tritonaudit are its wrappers, called with guessed inputs.

    Each has a name, and no two have the same. Raises LoadError with the user's file and line.
    """
    path = path.absolute()
    if path.is_dir():
        variants = variants_in(path)
        if not variants:
            raise LoadError(f"no file here is {SubjectKind.VARIANT.value}", str(path))
        return tuple(_variant(variant) for variant in variants)
    match kind_of(path):
        case SubjectKind.PAIR:
            return (_pair(path),)
        case SubjectKind.VARIANT:
            return (_variant(path),)
        case None if not imports_us(path):
            return _guessed(path)
        case _:
            return _spec(path)


def _spec(path: Path) -> tuple[Subject, ...]:
    """Every subject that the file's own level names; one without a name has that of its variable, less `_subject`."""
    module = run_file(path)
    found: dict[int, Subject] = {}
    for variable, value in vars(module).items():
        if isinstance(value, Subject) and id(value) not in found:
            found[id(value)] = value if value.name else replace(value, name=variable.removesuffix(VARIABLE_SUFFIX))
    found = _there(found, path)
    if not found:
        raise LoadError("defines no Subject: write `NAME = Subject(function, inputs=[…])` at its own level", str(path))
    name, count = Counter(subject.name for subject in found.values()).most_common(1)[0]
    if count > 1:
        raise LoadError(f"{count} subjects are named {name!r}: give each a name of its own", str(path))
    return tuple(found.values())


def _there(found: dict[int, Subject], path: Path) -> dict[int, Subject]:
    """Those whose functions are there, and no stand-ins. Raises LoadError if that is none of several."""
    absent = {key: origin for key, one in found.items() if (origin := origin_of(one.function)) is not None}
    for key, origin in absent.items():
        say(Unrun(found[key].name, origin))
    if absent and len(absent) == len(found):
        last = list(absent.values())[-1]
        raise LoadError(f"its subjects are not there: `{last}` is stood in for; {'; '.join(newly_said())}", str(path))
    return {key: one for key, one in found.items() if key not in absent}


def _guessed(path: Path) -> tuple[Subject, ...]:
    """Its wrappers, as far as running the file defines them."""
    module = run_file(path)
    found = tuple(guessed_subjects(path, lambda name: function_in(module, name)))
    if not found:
        raise LoadError("it has no function that launches a kernel and can be called", str(path))
    return found


def _pair(path: Path) -> Subject:
    from tritonaudit.subject.kernelbench import pair_subject

    reference = reference_of(path)
    if reference is None:
        where = f"neither here nor, for certain, in another file of {path.parent}"
        raise LoadError(f"`ModelNew` needs `Model` and `get_inputs`, which are {where}", str(path))
    module = _candidate(path)
    with running(path):
        return pair_subject(module, module if reference == path else run_file(reference), path.stem)


def _variant(path: Path) -> Subject:
    from tritonaudit.subject.variants import variant_subject

    operation = operation_of(path)
    module = _candidate(path)
    function = _attribute(module, f"triton_{operation}", path)
    with running(path):
        return variant_subject(path, module, operation, function)


def _candidate(path: Path) -> ModuleType:
    """A module that others are to import as it is: nothing may be stood in for. Raises LoadError."""
    before = said()
    module = run_file(path)
    for one in said()[len(before) :]:
        if isinstance(one, Missing):
            raise LoadError(f"No module named '{one.module}'", one.path, one.line)
        if isinstance(one, LeftOut):
            raise LoadError(one.why, one.path, one.line)
    return module


def _attribute(module: ModuleType, name: str, path: Path) -> Any:
    if not callable(found := getattr(module, name, None)):
        raise LoadError(f"`{name}` is not a function of this file", str(path))
    return found
