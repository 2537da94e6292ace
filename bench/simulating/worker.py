"""A process in which one side launches one case again and again; it prints a line of JSON for all that it knows.

    python -m bench.simulating.worker SIDE CASE THREADS

First the versions that it runs, then each launch's seconds, then how far the result is from what is expected and what
the tool says that it left out, or why the side cannot run the case. It runs in the environments of the other tools,
too: it needs torch, triton and the tool.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from bench.simulating.kernels import Launch

INTERPRETER, CHECKED, UNCHECKED = "interpreter", "checked", "unchecked"
PROTOTYPE, TTSEM, SANITIZER, TRACER = "prototype", "ttsem", "sanitizer", "tracer"
PROTOTYPE_FOLDER, IR_FOLDER = "SIMULATING_PROTOTYPE", "SIMULATING_IR"

_LEAST, _MOST, _ENOUGH_SECONDS = 2, 7, 2.0
_DISTRIBUTIONS = {TTSEM: "ttsem", SANITIZER: "triton-viz", TRACER: "triton-viz"}
_IR_FILES = {"add": "add.mlir", "softmax": "softmax.mlir", "matmul": "mm.mlir"}


class Cannot(Exception):
    """The side has no way to run the case."""


def main(side: str, case: str, threads: int) -> None:
    """Print what comes of it; a side that fails says so, and is no failure of this process."""
    if threads:
        torch.set_num_threads(threads)
    try:
        _tell("versions", _versions(side))
        launch = _case(case)
        _time(_SIDES[side](launch, case))
        _tell("deviation", launch.deviation())
        _tell("remark", ", ".join(filter(None, (remark() for remark in _REMARKS))))
    except (Exception, SystemExit) as error:
        _tell("failed", f"{type(error).__name__}: {' '.join(str(error).split())}"[:300])


def _case(name: str) -> Launch:
    from bench.simulating.kernels import CASES

    torch.manual_seed(0)
    return CASES[name].launch()


def _time(launch: Callable[[], object]) -> None:
    """The first launch, then as many as take a while together."""
    _tell("seconds", _seconds(launch))
    spent, count = 0.0, 0
    while count < _LEAST or (count < _MOST and spent < _ENOUGH_SECONDS):
        seconds = _seconds(launch)
        _tell("seconds", seconds)
        spent += seconds
        count += 1


def _seconds(launch: Callable[[], object]) -> float:
    gc.collect()
    with contextlib.redirect_stdout(io.StringIO()):
        started = time.perf_counter()
        launch()
        return time.perf_counter() - started


def _plain(launch: Launch, _: str) -> Callable[[], object]:
    """As a user launches a kernel: what executes it was chosen by the environment, or by who has patched Triton."""
    return lambda: launch.kernel[launch.grid](*launch.arguments, **launch.constants)


def _engine(launch: Launch, *, checks: bool) -> Callable[[], object]:
    from tritonaudit import simulate

    found: set[str] = set()
    _REMARKS.append(lambda: f"faults found: {', '.join(sorted(found))}" if found else "")

    def execute() -> None:
        simulation = simulate(launch.kernel, launch.grid, *launch.arguments, checks=checks, **launch.constants)
        found.update(fault.kind.value for fault in simulation.faults)

    return execute


def _prototype(launch: Launch, case: str) -> Callable[[], object]:
    if case not in _IR_FILES:
        raise Cannot("it has not the operations that this kernel needs")
    sys.path.insert(0, os.environ[PROTOTYPE_FOLDER])
    import ir_simulator  # type: ignore[import-not-found]

    function = ir_simulator.parse((Path(os.environ[IR_FOLDER]) / _IR_FILES[case]).read_text())
    x, y, z = (*launch.grid, 1, 1)[:3]
    return lambda: ir_simulator.run(function, list(launch.arguments), (x, y, z))


def _ttsem(launch: Launch, case: str) -> Callable[[], object]:
    from ttsem.sanitize import session  # type: ignore[import-not-found]

    state = _KEPT_OPEN.enter_context(session())
    _REMARKS.append(lambda: "too large for its check of races" if state.races_unchecked else "")
    return _plain(launch, case)


def _triton_viz(launch: Launch, *, client: str) -> Callable[[], object]:
    import triton_viz  # type: ignore[import-not-found]

    kernel = triton_viz.trace(client=client)(launch.kernel)
    return lambda: kernel[launch.grid](*launch.arguments, **launch.constants)


_KEPT_OPEN = contextlib.ExitStack()
_REMARKS: list[Callable[[], str]] = []
_SIDES: Mapping[str, Callable[[Launch, str], Callable[[], object]]] = {
    INTERPRETER: _plain,
    CHECKED: lambda launch, _: _engine(launch, checks=True),
    UNCHECKED: lambda launch, _: _engine(launch, checks=False),
    PROTOTYPE: _prototype,
    TTSEM: _ttsem,
    SANITIZER: lambda launch, _: _triton_viz(launch, client=SANITIZER),
    TRACER: lambda launch, _: _triton_viz(launch, client=TRACER),
}


def _versions(side: str) -> str:
    import triton

    own = _installed(_DISTRIBUTIONS[side]) if side in _DISTRIBUTIONS else ""
    python, numpy = platform.python_version(), version("numpy")
    rest = f"Triton {triton.__version__}, torch {torch.__version__}, NumPy {numpy}, Python {python}"
    return f"{own}, {rest}" if own else rest


def _installed(name: str) -> str:
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name}, not installed"


def _tell(key: str, value: Any) -> None:
    print(json.dumps({key: value}), file=sys.__stdout__, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
