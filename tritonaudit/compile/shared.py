"""What is captured on one target for others, so that a wrapper is not called again where it would launch the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tritonaudit.capture.infer_task import Inferred
from tritonaudit.capture.launch import Launch, Program, Sibling
from tritonaudit.capture.task import Captured
from tritonaudit.hardware.targets import gpu_target


def callers(targets: Sequence[str], tasks: int, jobs: int) -> dict[str, tuple[str, ...]]:
    """The targets on which tasks are done in any case, and those for which it may turn out that they need not be.

    Where there are processes for all, none waits for what another one finds. Of NVIDIA's GPUs the newest does for the
    others; to host code and to the front end AMD's are something else.
    """
    if jobs >= tasks * len(targets):
        return dict.fromkeys(targets, ())
    related = [target for target in targets if gpu_target(target).backend == "cuda"]
    newest = max(related, key=lambda target: int(gpu_target(target).arch), default=None)
    others = tuple(target for target in related if target != newest)
    return {target: others if target == newest else () for target in targets if target not in others}


def captured_for_all(captured: Captured) -> list[Captured]:
    """What was captured on its target, and the same on each sibling."""
    return [
        replace(captured, siblings=()),
        *(
            replace(
                captured,
                target=sibling.target,
                siblings=(),
                launches=_on(sibling, captured.launches),
                sweeps=tuple(
                    replace(sweep, launches=tuple(_on(sibling, case) for case in sweep.launches))
                    for sweep in captured.sweeps
                ),
            )
            for sibling in captured.siblings
        ),
    ]


def inferred_for_all(target: str, inferred: Inferred) -> dict[str, Inferred]:
    """What was inferred on the target, and the same on each sibling."""
    own = replace(inferred, siblings=())
    return {target: own} | {
        sibling.target: replace(own, launches=_on(sibling, inferred.launches)) for sibling in inferred.siblings
    }


def _on(sibling: Sibling, launches: Iterable[Launch]) -> tuple[Launch, ...]:
    options = dict(sibling.options)
    programs: dict[Program | None, Program | None] = {None: None}
    made: list[Launch] = []
    for launch in launches:
        program = launch.program
        if program is not None and program not in programs:
            programs[program] = Program(sibling.target, program.ttir, options[program.options])
        made.append(replace(launch, target=sibling.target, program=programs[program]))
    return tuple(made)
