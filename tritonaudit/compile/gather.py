"""From launches and what became of their programs to the facts of each kernel."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tritonaudit.capture.launch import KernelRef, Launch, Program, SourceError
from tritonaudit.capture.task import SweepLaunches
from tritonaudit.compile.facts import CompiledKernel, CompileError, LineAccess, Narrow, Sweep, Variant
from tritonaudit.compile.places import Places


def gather(
    launches: Iterable[Launch],
    compiled: Mapping[Program, Variant],
    sweeps: Sequence[SweepLaunches],
    places: Places | None = None,
) -> tuple[CompiledKernel, ...]:
    """The facts of every launched kernel, in the order of files and lines.

    `compiled` holds a variant for each program that was compiled, without what only the launch knows. The `places` are
    those of files as they are, unless others are given.
    """
    places = places or Places()
    by_kernel: dict[KernelRef, dict[_Key, list[Launch]]] = {}
    for launch in launches:
        if launch.error is not None or launch.program in compiled:
            by_kernel.setdefault(launch.kernel, {}).setdefault(_key(launch), []).append(launch)
    grown = _sweeps(sweeps)
    return tuple(
        CompiledKernel(
            path=kernel.path,
            name=kernel.name,
            span=places.name(kernel.path, kernel.line),
            variants=tuple(
                _variant(same, _cases(same, variants.values()), compiled, places) for same in variants.values()
            ),
            sweeps=grown.get(kernel, ()),
        )
        for kernel, variants in sorted(by_kernel.items(), key=lambda item: (item[0].path, item[0].line))
    )


@dataclass(frozen=True)
class _Key:
    """What makes two launches one variant."""

    target: str
    config: str
    signature: tuple[tuple[str, str], ...]
    outcome: Program | SourceError | None


def _key(launch: Launch) -> _Key:
    return _Key(launch.target, launch.config, launch.signature, launch.program or launch.error)


def _cases(launches: Iterable[Launch], of_kernel: Iterable[Iterable[Launch]]) -> tuple[str, ...]:
    """The cases of these launches, after their subjects where several launch the kernel."""
    subjects = {launch.subject for same in of_kernel for launch in same if launch.subject}
    return tuple(
        dict.fromkeys(
            f"{launch.subject}: {launch.case}" if launch.subject and len(subjects) > 1 else launch.case
            for launch in launches
        )
    )


def _variant(
    launches: Sequence[Launch], cases: tuple[str, ...], compiled: Mapping[Program, Variant], places: Places
) -> Variant:
    first = launches[0]
    known = {
        "target": first.target,
        "config": first.config,
        "cases": cases,
        "signature": first.signature,
        "constants": tuple(_constants(first)),
        "assumed": first.assumed,
        "is_least": all(launch.is_least for launch in launches),
        "warnings": tuple(_source_error(said, places) for said in first.warnings),
    }
    if first.error is not None:
        return Variant(**known, error=_source_error(first.error, places))  # type: ignore[arg-type]
    assert first.program is not None
    variant = compiled[first.program]
    return replace(
        variant,
        **known,  # type: ignore[arg-type]
        error=_placed_error(variant.error, places),
        accesses=tuple(_placed(access, places) for access in variant.accesses),
        narrow=tuple(_placed_narrow(narrow, first, places) for narrow in variant.narrow),
    )


def _constants(launch: Launch) -> Iterator[tuple[str, str]]:
    """Those that are the same in each process: not what is written with its address."""
    passed = dict(launch.arguments)
    for name, kind in launch.signature:
        value = passed.get(name)
        if kind == "constexpr" and name in passed and " at 0x" not in str(value):
            yield name, str(value)


def _source_error(error: SourceError, places: Places) -> CompileError:
    span = places.expression(error.path, error.line, error.column)
    return CompileError(error.message, error.path, span, error.is_certain)


def _placed_error(error: CompileError | None, places: Places) -> CompileError | None:
    if error is None or error.span is None:
        return error
    return replace(error, span=places.expression(error.path, error.span.line, error.span.column))


def _placed(access: LineAccess, places: Places) -> LineAccess:
    span = places.access(access.path, access.span.line, access.span.column, access.kind)
    return replace(access, span=span)


def _placed_narrow(narrow: Narrow, launch: Launch, places: Places) -> Narrow:
    names = _program_arguments(launch)
    arguments = tuple(
        names[int(known[1])] if (known := _NUMBERED.fullmatch(name)) and int(known[1]) < len(names) else name
        for name in narrow.arguments
    )
    return replace(narrow, access=_placed(narrow.access, places), arguments=arguments)


_NUMBERED = re.compile(r"arg(\d+)")
"""What an argument of a program is called by versions of Triton whose text does not hold its name, before 3.6."""


def _program_arguments(launch: Launch) -> list[str]:
    """The parameters that the program still has: neither constexprs, nor specialised to 1, nor None."""
    constant = {name for name, hint in launch.specialisation if hint == "one"}
    constant |= {name for name, value in launch.arguments if value is None}
    return [name for name, kind in launch.signature if kind != "constexpr" and name not in constant]


def _sweeps(found: Iterable[SweepLaunches]) -> dict[KernelRef, tuple[Sweep, ...]]:
    """The sweeps in which every size led to a specialisation of its own, with the parameter that is to blame."""
    grown: dict[KernelRef, tuple[Sweep, ...]] = {}
    for sweep in found:
        for kernel in dict.fromkeys(launch.kernel for launches in sweep.launches for launch in launches):
            rows = [[launch for launch in launches if launch.kernel == kernel] for launches in sweep.launches]
            if len({len(row) for row in rows}) != 1:
                continue
            keys = [tuple(tuple(_specialised(launch).items()) for launch in row) for row in rows]
            blamed = _blamed([_specialised(row[0]) for row in rows]) if rows[0] else None
            if len(set(keys)) == len(keys) and blamed is not None:
                entry = Sweep(sweep.dimension, sweep.sizes, len(keys), blamed)
                if entry not in grown.get(kernel, ()):
                    grown[kernel] = (*grown.get(kernel, ()), entry)
    return grown


def _specialised(launch: Launch) -> dict[str, Any]:
    """What a launch is specialised by: types, constants, and what Triton takes for granted of the others."""
    values = dict(launch.arguments)
    hints: dict[str, list[str]] = {}
    for name, hint in launch.specialisation:
        hints.setdefault(name, []).append(hint)
    return {
        name: (kind, repr(values.get(name)) if kind == "constexpr" and name not in hints else "", *hints.get(name, ()))
        for name, kind in launch.signature
    }


def _blamed(launches: Sequence[dict[str, Any]]) -> str | None:
    """The parameter whose specialisation is another one in each launch."""
    for name in launches[0]:
        if len({repr(launch.get(name)) for launch in launches}) == len(launches):
            return name
    return None
