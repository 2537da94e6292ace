"""The task of a worker for a kernel that no subject launches: lifted out of its project and called as inferred."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tritonaudit.capture.alternatives import alternatives
from tritonaudit.capture.infer import Inference, is_launched, launch_sites
from tritonaudit.capture.infer_task import MOST_CONFIGS, Inferred, InferTask
from tritonaudit.capture.inferred import Argument, ArgumentKind, InferredCall
from tritonaudit.capture.launch import Launch, SourceError
from tritonaudit.capture.lift import CannotLift, lift
from tritonaudit.domains.analysis import is_helper
from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import outline

if TYPE_CHECKING:
    from tritonaudit.capture.load import Loaded

_CASE = "as inferred"
_DTYPE = "float16"
_OTHER_DTYPES = ("bfloat16", "float32")
_LARGE = 1 << 15  # elements of a block: 8 warps hold 128 of each lane
_TILE = 64
_BLOCK = re.compile(r"tensor<((?:\d+x)+)")
_ODD_SIZE = re.compile(r"power of (2|two)")
_ODD_CONFIG = re.compile(r"num_ctas > 1 ")
_SIZES = "its tensors have a typical size"


def infer_launches(task: InferTask) -> Inferred:
    """Launch a kernel as its launches, its decorators and its body let one infer, in a process with a stand-in GPU."""
    from tritonaudit.capture.arguments import config_count
    from tritonaudit.capture.load import load
    from tritonaudit.capture.siblings import found as found_siblings

    project = _project(task.root)
    function = _function(task.path, task.kernel)
    if is_helper(function) and not is_launched(project, function):
        return Inferred(task, is_helper=True)
    try:
        loaded = load(lift(project, function))
        found = _attempts(task, loaded, Inference(project, function, launch_sites(project, function), _DTYPE))
        return replace(found, configs=config_count(loaded.kernel), siblings=found_siblings())
    except CannotLift as error:
        return Inferred(task, reason=str(error))


def _attempts(task: InferTask, loaded: Loaded, inference: Inference) -> Inferred:
    """The first call that the front end accepts, or the first of all calls with what it says against that."""
    from tritonaudit.capture.arguments import assumptions_of

    refused: Inferred | None = None
    call: InferredCall | None = inference.call()
    while call is not None:
        made, error = _launched(loaded.kernel, call, task)
        assumed = (*loaded.assumptions, *assumptions_of(call, loaded.kernel), _SIZES)
        made = [_sure_of(launch, inference, call, loaded.kernel) for launch in made]
        found = Inferred(task, tuple(replace(launch, assumed=assumed) for launch in made))
        if any(launch.error is not None and launch.error.is_certain for launch in made):
            return found
        if error is None:
            found = _smaller(loaded.kernel, call, task, found)
            variations = (*_variations(call), *_without_optional(inference, call))
            refusals = _refused(loaded.kernel, variations, task, assumed)
            return replace(found, launches=(*found.launches, *refusals))
        refused = refused or (found if made else replace(found, reason=error.message))
        call = alternatives(inference, call, error)
    assert refused is not None
    return refused


def _sure_of(launch: Launch, inference: Inference, call: InferredCall, kernel: Any) -> Launch:
    """The launch, with its error certain where it is about nothing but sizes that the configs or a launch give."""
    if launch.error is None:
        return launch
    is_certain = (
        bool(launch.config)
        if _ODD_CONFIG.match(launch.error.message)
        else bool(_ODD_SIZE.search(launch.error.message)) and _is_of_known_sizes(launch.error, inference, call, kernel)
    )
    return replace(launch, error=replace(launch.error, is_certain=is_certain))


def _is_of_known_sizes(error: SourceError, inference: Inference, call: InferredCall, kernel: Any) -> bool:
    """Whether no guessed constant comes into the line, nor a guessed flag that may decide whether it is reached."""
    from tritonaudit.capture.arguments import guesses

    reach = inference.uses.reach.get((error.path, error.line), set())
    constants = [argument for argument in guesses(call, kernel) if argument.kind is ArgumentKind.CONSTEXPR]
    return bool(reach) and not any(one.name in reach or isinstance(one.value, bool) for one in constants)


def _refused(
    kernel: Any, variations: Iterable[tuple[str, InferredCall]], task: InferTask, assumed: tuple[str, ...]
) -> Iterator[Launch]:
    """Of varied calls the launches that the front end rejects."""
    for what, varied in variations:
        made, _ = _launched(kernel, varied, task, f"{_CASE}, {what}")
        yield from (replace(launch, assumed=assumed) for launch in made if launch.error is not None)


def _without_optional(inference: Inference, call: InferredCall) -> Iterator[tuple[str, InferredCall]]:
    for name, varied in inference.calls_without_optional(call):
        yield f"without the wrapper's `{name}`", varied


def _variations(call: InferredCall) -> Iterator[tuple[str, InferredCall]]:
    for dtype in _OTHER_DTYPES:
        arguments = tuple(
            replace(argument, value=dtype)
            if argument.kind is ArgumentKind.POINTER and argument.value == _DTYPE
            else argument
            for argument in call.arguments
        )
        if arguments != call.arguments:
            yield dtype, replace(call, arguments=arguments)
    ones = tuple(
        replace(argument, value=1) if argument.kind is ArgumentKind.INTEGER else argument for argument in call.arguments
    )
    if ones != call.arguments:
        yield "integers of 1", replace(call, arguments=ones)


def _smaller(kernel: Any, call: InferredCall, task: InferTask, found: Inferred) -> Inferred:
    """The same with the guessed sizes of its blocks made small, where they come to more than anyone would choose."""
    if _largest_block(found.launches) <= _LARGE:
        return found
    arguments = tuple(
        replace(argument, value=min(argument.value, _TILE)) if _is_guessed_size(argument) else argument
        for argument in call.arguments
    )
    made, error = _launched(kernel, replace(call, arguments=arguments), task)
    if error is not None:
        return found
    return replace(found, launches=tuple(replace(launch, assumed=found.launches[0].assumed) for launch in made))


def _is_guessed_size(argument: Argument) -> bool:
    return argument.kind is ArgumentKind.CONSTEXPR and argument.guessed and type(argument.value) is int


def _largest_block(launches: Iterable[Launch]) -> int:
    """How many elements the largest block of the programs has."""
    texts = (launch.program.ttir for launch in launches if launch.program is not None)
    return max(
        (prod(map(int, dims.split("x")[:-1])) for text in texts for dims in set(_BLOCK.findall(text))), default=0
    )


def _launched(
    kernel: Any, call: InferredCall, task: InferTask, case: str = _CASE
) -> tuple[list[Launch], SourceError | None]:
    """The launches of one call, with those that Triton refuses where it takes others, and what is said against it."""
    from tritonaudit.absent.said import for_want_of
    from tritonaudit.absent.stand_in import DependsOnStandIn
    from tritonaudit.capture.arguments import build_arguments
    from tritonaudit.capture.record import Recorder, recording
    from tritonaudit.capture.task import target

    recorder = Recorder(target(), case, MOST_CONFIGS)
    try:
        positional, keywords = build_arguments(call, kernel)
        with recording(recorder):
            kernel[(1, 1, 1)](*positional, **keywords)
    except DependsOnStandIn as error:
        raise CannotLift(for_want_of(error)) from error
    except Exception as error:
        return [], SourceError(f"{type(error).__name__}: {error}", str(task.path), 0, 1)
    if not recorder.launches:
        refused = next((launch.error for launch in recorder.refused), None)
        return [], refused or SourceError("nothing is launched", str(task.path), 0, 1)
    made = [*recorder.launches, *recorder.refused]
    return made, next((launch.error for launch in recorder.launches if launch.error is not None), None)


@lru_cache(maxsize=4)
def _project(root: Path) -> Project:
    return Project(root)


@lru_cache(maxsize=16)
def _functions(path: Path) -> dict[str, Function]:
    module = outline(str(path), path.read_text(encoding="utf-8"))
    return {jit.qualname: Function(module, jit) for jit in module.jit}


def _function(path: Path, kernel: str) -> Function:
    return _functions(path)[kernel]
