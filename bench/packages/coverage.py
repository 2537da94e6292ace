"""What the kernels of one package come to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tritonaudit.capture.infer import is_launched
from tritonaudit.capture.launch import Launch, Program
from tritonaudit.compile.capturing import Gathered, capture_subjects, infer_kernels
from tritonaudit.compile.compiling import Compiled, compile_programs
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.decode import decode
from tritonaudit.source.outline import Unparsable, outline

_TRIES = 2
"""How many launches of a kernel are compiled for a target, at most, until one compiles."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that is launched somewhere: by which targets' launches it was captured or inferred, what compiled."""

    path: str
    name: str
    captured: tuple[str, ...]
    inferred: tuple[str, ...]
    compiled: tuple[str, ...]
    reason: str


@dataclass(frozen=True)
class Coverage:
    """A package's kernels; `others` counts captured kernels that its files do not hold, such as generated ones."""

    package: str
    targets: tuple[str, ...]
    kernels: tuple[Kernel, ...]
    subjects: int
    others: int


def coverage(
    package: str, site: Path, files: Sequence[Path], specs: Sequence[Path], targets: Sequence[str], jobs: int
) -> Coverage:
    """Capture the subjects, infer the rest, compile, and say what every launched kernel came to."""
    launched = dict(_launched(site, files))
    captured = capture_subjects(specs, targets, jobs, is_brief=True)
    places = {(launch.kernel.path, launch.kernel.line) for launch in captured.launches}
    inferred = infer_kernels(files, places, targets, jobs)
    launches = [*captured.launches, *inferred.launches]
    by_kernel: dict[tuple[str, int], list[Launch]] = {}
    for launch in launches:
        by_kernel.setdefault((launch.kernel.path, launch.kernel.line), []).append(launch)
    compiled = _compiled([by_kernel.get(place, []) for place in launched], jobs)
    kernels = tuple(
        _kernel(site, place, name, by_kernel.get(place, []), compiled, inferred) for place, name in launched.items()
    )
    return Coverage(package, tuple(targets), kernels, len(specs), len(places - set(launched)))


def _launched(site: Path, files: Iterable[Path]) -> Iterator[tuple[tuple[str, int], str]]:
    """The kernels in the files that are launched anywhere in the package, by file and line."""
    project = Project(site)
    for path in files:
        try:
            module = outline(str(path), decode(path.read_bytes()))
        except Unparsable:
            continue
        for function in module.jit:
            if is_launched(project, Function(module, function)):
                yield (str(path), function.node.lineno), function.qualname


def _compiled(kernels: Sequence[Sequence[Launch]], jobs: int) -> Compiled:
    """What the first launches of each kernel compile to, on each target; further ones where these do not."""
    found = Compiled()
    waiting = [list(_choices(launches)) for launches in kernels]
    for _ in range(_TRIES):
        batch = [choices.pop(0) for per_kernel in waiting for choices in per_kernel if choices]
        made = compile_programs(batch, jobs, explains=False)
        found.variants.update(made.variants)
        found.lost.update(made.lost)
        good = {program for program, variant in made.variants.items() if variant.resources is not None}
        for per_kernel, launches in zip(waiting, kernels, strict=True):
            done = {launch.target for launch in launches if launch.program in good}
            per_kernel[:] = [choices for choices in per_kernel if choices and choices[0].target not in done]
    return found


def _choices(launches: Sequence[Launch]) -> Iterator[list[Program]]:
    """For each target, the programs to try."""
    for target in dict.fromkeys(launch.target for launch in launches):
        programs = [launch.program for launch in launches if launch.target == target and launch.program is not None]
        yield list(dict.fromkeys(programs))[:_TRIES]


def _kernel(
    site: Path,
    place: tuple[str, int],
    name: str,
    launches: Sequence[Launch],
    compiled: Compiled,
    inferred: Gathered,
) -> Kernel:
    good = dict.fromkeys(launch.target for launch in launches if _compiles(launch, compiled))
    return Kernel(
        path=str(Path(place[0]).relative_to(site)),
        name=name,
        captured=tuple(dict.fromkeys(launch.target for launch in launches if not launch.is_inferred)),
        inferred=tuple(dict.fromkeys(launch.target for launch in launches if launch.is_inferred)),
        compiled=tuple(good),
        reason="" if good else _reason(name, place[0], launches, compiled, inferred),
    )


def _compiles(launch: Launch, compiled: Compiled) -> bool:
    variant = compiled.variants.get(launch.program) if launch.program is not None else None
    return variant is not None and variant.resources is not None


def _reason(name: str, path: str, launches: Sequence[Launch], compiled: Compiled, inferred: Gathered) -> str:
    for launch in launches:
        if launch.error is not None:
            return launch.error.message
        if launch.program is not None:
            variant = compiled.variants.get(launch.program)
            if variant is not None and variant.error is not None:
                return variant.error.message
            if launch.program in compiled.lost:
                return compiled.lost[launch.program]
    said = (outcome.reason for outcome in inferred.outcomes if f"`{name}`" in outcome.reason)
    return next(said, "it looks like a helper that only kernels call")
