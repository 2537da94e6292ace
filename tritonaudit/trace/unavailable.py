"""What no CPU does in a GPU's place: a test that asks for it is skipped, and any other command is told why."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from typing import Any, NoReturn

import torch
import triton


class NotRun(RuntimeError):
    """The command asks for what is not done without a GPU."""


_NOT_RUN = f"{NotRun.__module__}.{NotRun.__qualname__}"
"""How a traceback names it."""


def not_run(reason: str) -> NoReturn:
    """Skip the test that is running, or raise NotRun where pytest runs none."""
    outcomes = sys.modules.get("_pytest.outcomes")
    if outcomes is not None and multiprocessing.parent_process() is None:
        raise outcomes.Skipped(f"tritonaudit: {reason}", allow_module_level=True)
    raise NotRun(reason)


def stand_in_unavailable(note: Callable[[str], None]) -> None:
    """Have what needs a GPU's own libraries say so, to `note` as well, for the rest of the process."""

    def refusing(what: str) -> Callable[..., NoReturn]:
        def refuse(*_: Any, **__: Any) -> NoReturn:
            note(what)
            not_run(f"{what} needs a GPU")

        return refuse

    refuse_graph = refusing("a CUDA graph")
    for name in ("CUDAGraph", "graph"):
        setattr(torch.cuda, name, type(name, (), {"__init__": refuse_graph}))  # annotations name them
    torch.cuda.make_graphed_callables = refuse_graph
    _stand_in_extensions(refusing("a CUDA extension that is compiled when it is imported"))
    if torch.distributed.is_available():
        _stand_in_nccl(refusing("NCCL"))
    _stand_in_spawn()
    triton.testing.do_bench = triton.testing.do_bench_cudagraph = _once


def _stand_in_extensions(refuse: Callable[..., NoReturn]) -> None:
    import torch.utils.cpp_extension as extension

    extension.load = extension.load_inline = refuse


def _stand_in_nccl(refuse: Callable[..., NoReturn]) -> None:
    begin = torch.distributed.init_process_group

    def begun(backend: Any = None, *arguments: Any, **keywords: Any) -> Any:
        if backend is None or "nccl" in str(backend):
            refuse()
        return begin(backend, *arguments, **keywords)

    torch.distributed.init_process_group = begun


def _stand_in_spawn() -> None:
    """What a process that was started for a test does not run, the test does not."""
    import torch.multiprocessing as processes

    start = processes.spawn

    def started(*arguments: Any, **keywords: Any) -> Any:
        try:
            return start(*arguments, **keywords)
        except processes.ProcessException as error:
            if _NOT_RUN not in str(error):
                raise
            not_run(str(error).rpartition(_NOT_RUN)[2].strip(": \n"))

    processes.spawn = started


def _once(call: Callable[[], Any], *_: Any, quantiles: Any = None, return_mode: str = "mean", **__: Any) -> Any:
    """In the place of what times a call by repeating it."""
    call()
    if return_mode == "all":
        return [1.0]
    return 1.0 if quantiles is None else [1.0] * len(quantiles)
