"""The GPU's side, a process of its own.

    python -m bench.agreement.gpu describe            the GPU, as JSON
    python -m bench.agreement.gpu load OUT            what the driver says of every subject's kernel, to a file
    python -m bench.agreement.gpu profile SUBJECT …   one launch of each for a profiler

A profiler counts what lies between cudaProfilerStart and cudaProfilerStop.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.agreement.facts import Gpu, Loaded, write


def describe() -> Gpu:
    """The GPU that torch and Triton find, or why they find none."""
    try:
        import torch
        import triton
    except ImportError as error:
        return Gpu(not_run=f"{error}")
    if torch.version.hip:
        return Gpu(not_run="torch is built for AMD's GPUs, and the driver asked here is NVIDIA's")
    if not torch.cuda.is_available():
        return Gpu(not_run="torch finds no NVIDIA GPU")
    major, minor = torch.cuda.get_device_capability()
    return Gpu(torch.cuda.get_device_name(), f"sm_{major}{minor}", torch.__version__, triton.__version__)


def load(output: Path) -> None:
    """Run every subject on the GPU, and write what the driver says of its kernel."""
    from bench.agreement.launches import subjects

    write(output, [_loaded(name, subject) for name, subject in subjects().items()])


def profile(names: Sequence[str]) -> None:
    """Run each subject twice, the second time for the profiler: by then its kernel is compiled and loaded."""
    import torch

    from bench.agreement.launches import only_case, subjects
    from tritonaudit.subject.inputs import make_inputs

    for name in names:
        subject = subjects()[name]
        positional, keywords = make_inputs(subject, only_case(subject))
        subject.function(*positional, **keywords)
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        subject.function(*positional, **keywords)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


def _loaded(name: str, subject: Any) -> Loaded:
    import torch

    from bench.agreement.launches import only_case
    from tritonaudit.subject.inputs import make_inputs, tensors_in

    try:
        positional, keywords = make_inputs(subject, only_case(subject))
        with kernels_launched() as kernels:
            results = list(tensors_in(subject.function(*positional, **keywords)))
        torch.cuda.synchronize()
        wanted = list(tensors_in(subject.reference(*positional, **keywords)))
    except Exception as error:
        return Loaded(name, error=f"{type(error).__name__}: {error}")
    if len(kernels) != 1:
        return Loaded(name, error=f"{len(kernels)} launches in place of one")
    [kernel] = kernels
    return Loaded(
        subject=name,
        kernel=kernel.metadata.name,
        registers=kernel.n_regs,
        # Triton asks the driver for CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES and divides it by 4.
        local=4 * kernel.n_spills,
        shared=kernel.metadata.shared,
        occupancy=_resident_warps(kernel),
        program=hashlib.sha256(kernel.asm["ttir"].encode()).hexdigest(),
        deviation=_deviation(results, wanted),
        read=sum(tensor.numel() * tensor.element_size() for tensor in tensors_in((positional, keywords))),
        written=sum(tensor.numel() * tensor.element_size() for tensor in results),
    )


@contextmanager
def kernels_launched() -> Iterator[list[Any]]:
    """The compiled kernels that Triton launches while this lasts, in order."""
    from triton.runtime.jit import JITFunction

    kernels: list[Any] = []
    run: Callable[..., Any] = JITFunction.run

    def recorded(self: Any, *args: Any, **kwargs: Any) -> Any:
        kernel = run(self, *args, **kwargs)
        kernels.append(kernel)
        return kernel

    JITFunction.run = recorded
    try:
        yield kernels
    finally:
        JITFunction.run = run


def _resident_warps(kernel: Any) -> int | None:
    """How many warps of the kernel the driver says a multiprocessor holds, None where it does not say."""
    warps: int = kernel.metadata.num_warps
    blocks = ctypes.c_int()
    status = ctypes.CDLL("libcuda.so.1").cuOccupancyMaxActiveBlocksPerMultiprocessor(
        ctypes.byref(blocks),
        ctypes.c_void_p(kernel.function),
        ctypes.c_int(32 * warps),
        ctypes.c_size_t(kernel.metadata.shared),
    )
    return blocks.value * warps if status == 0 else None


def _deviation(results: Sequence[Any], wanted: Sequence[Any]) -> float:
    """The greatest deviation of a result; infinite where dtypes or shapes differ."""
    import torch

    greatest = 0.0
    for result, want in zip(results, wanted, strict=True):
        if result.dtype != want.dtype or result.shape != want.shape:
            return float("inf")
        difference = torch.linalg.vector_norm(result.float() - want.float())
        greatest = max(greatest, float(difference / torch.linalg.vector_norm(want.float())))
    return greatest


def main(arguments: Sequence[str]) -> None:
    """Do as the arguments say."""
    match arguments:
        case ["describe"]:
            print(json.dumps(asdict(describe())))
        case ["load", output]:
            load(Path(output))
        case ["profile", *names]:
            profile(names)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
