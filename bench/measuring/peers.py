"""Other ways of timing the same calls, each as its authors publish it."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import torch
import triton.testing

from tritonaudit.measure.timing import Contender, Stopwatch
from tritonaudit.subject.inputs import make_inputs
from tritonaudit.subject.model import Case, Subject

Call = Callable[[], Any]


def compare(subject: Subject, size: str, case: Case, seconds: float) -> None:
    """Print a line: milliseconds of a call by each, and how many times ours."""
    positional, keywords = inputs = make_inputs(subject, case)

    def call() -> Any:
        return subject.function(*positional, **keywords)

    watch, contender = Stopwatch([inputs]), Contender("subject", subject.function)
    watch.once(contender)
    times = watch.time([contender], seconds)["subject"]
    ours = statistics.median(times.device)
    reported = [f"{subject.name:20} {size:7} tritonaudit {ours:.5f} (wall {statistics.median(times.wall):.5f})"]
    for name, method in METHODS.items():
        try:
            taken = method(call)
        except Exception as error:
            reported.append(f"{name}: {type(error).__name__}")
        else:
            reported.append(f"{name} {taken:.5f} ({taken / ours:.2f}×)")
    print("; ".join(reported), flush=True)


def _do_bench(call: Call) -> float:
    return float(triton.testing.do_bench(call))


def _do_bench_cudagraph(call: Call) -> float:
    with torch.cuda.stream(torch.cuda.Stream()):
        return float(triton.testing.do_bench_cudagraph(call))


def _kernelbench(call: Call) -> float:
    """KernelBench's events (`timing.py` at commit 0de4ce8a): 3 calls, torch's memory given back, then the mean of 10.

    Before each of these, and one that does not count, 256 MiB are written.
    """
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    taken = []
    for _ in range(1 + 10):
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.full(((256 << 20) // 8,), 42, dtype=torch.int64, device="cuda")
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        taken.append(begin.elapsed_time(end))
    return statistics.mean(taken[1:])


def _gpucheck(call: Call) -> float:
    from gpucheck.fixtures.benchmark import _BenchmarkRunner

    return float(_BenchmarkRunner()(call).median)


def _kernelmeter(call: Call) -> float:
    from kernelmeter.bench import _time_fn

    return statistics.median(_time_fn(call, (), 10, 100, True))


METHODS = {
    "do_bench": _do_bench,
    "do_bench_cudagraph": _do_bench_cudagraph,
    "KernelBench": _kernelbench,
    "gpucheck": _gpucheck,
    "kernelmeter": _kernelmeter,
}
"""Each gives the milliseconds of a call."""
