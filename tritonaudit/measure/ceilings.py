"""The rates that the GPU of this process is measured to reach, by torch's own copies and matrix products.

Imports torch: for worker processes.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path

import torch

from tritonaudit.hardware.roofline import Figure
from tritonaudit.hardware.targets import Source
from tritonaudit.measure.clock import driver_version
from tritonaudit.measure.facts import Gpu
from tritonaudit.measure.rates import COPY, READ, TENSOR_FLOAT, matrix_rate
from tritonaudit.measure.timing import Contender, Stopwatch
from tritonaudit.replacing import replace_file

_BYTES = 1 << 30
_SIZES = (4096, 8192)
_PLAIN_SIZES = (4096,)
"""Of matrices that no matrix unit multiplies."""
_SECONDS = 0.2
_DTYPES = ("float16", "bfloat16", "float8_e4m3fn", "float32", "float64")


def measured_gpu(folder: Path, alone: AbstractContextManager[None]) -> Gpu:
    """The GPU with its ceilings; they are measured once for a GPU, its driver and torch, and kept in the folder.

    While they are measured nobody else is to use it, which `alone` sees to.
    """
    name, driver = str(torch.cuda.get_device_name()), driver_version()
    words = (name, driver, torch.__version__, str(_BYTES), str(_SIZES))
    path = folder / ("-".join("".join(filter(str.isalnum, word)) for word in words) + ".json")
    known = _read(path)
    if known is None:
        with alone:
            known = _read(path) or dict(_measured())  # another process may have been first
        torch.cuda.empty_cache()
        _write(path, known)
    source = Source(f"measured on this {name}, driver {driver}", "by tritonaudit, torch " + torch.__version__, "")
    return Gpu(name, driver, tuple(Figure(figure, value, _unit(figure), source) for figure, value in known.items()))


def _unit(figure: str) -> str:
    return "GB/s" if figure in (COPY, READ) else "TFLOP/s"


def _read(path: Path) -> dict[str, float] | None:
    try:
        known = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    is_whole = isinstance(known, dict) and all(isinstance(value, float) and value > 0 for value in known.values())
    return known if is_whole and COPY in known else None


def _write(path: Path, known: dict[str, float]) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(known).encode())


def _measured() -> Iterator[tuple[str, float]]:
    """Each ceiling with its value; those that this GPU or this torch lacks are left out."""
    source = torch.randn(_BYTES // 4, device="cuda")
    yield COPY, 2 * _BYTES / _seconds(partial(torch.empty_like(source).copy_, source)) / 1e9
    yield READ, _BYTES / _seconds(source.sum) / 1e9
    for dtype in _DTYPES:
        yield from _product(matrix_rate(dtype), dtype, allow_tf32=False)
    yield from _product(matrix_rate(TENSOR_FLOAT), "float32", allow_tf32=True)


def _product(name: str, dtype: str, *, allow_tf32: bool) -> Iterator[tuple[str, float]]:
    sizes = _PLAIN_SIZES if dtype in ("float32", "float64") and not allow_tf32 else _SIZES
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = allow_tf32
    try:
        yield name, max(2 * size**3 / _seconds(_multiply(dtype, size)) / 1e12 for size in sizes)
    except (RuntimeError, AttributeError, NotImplementedError):
        return
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def _multiply(dtype: str, size: int) -> Callable[[], torch.Tensor]:
    """A product of square matrices of random numbers: of zeros it would be faster than of any others."""
    torch_dtype: torch.dtype = getattr(torch, dtype)
    one, other = (torch.randn(size, size, device="cuda").to(torch_dtype) for _ in range(2))
    if torch_dtype.itemsize > 1:
        return lambda: one @ other
    unit = torch.ones((), device="cuda")
    return lambda: torch._scaled_mm(one, other.t(), scale_a=unit, scale_b=unit, out_dtype=torch.bfloat16)


def _seconds(function: Callable[[], torch.Tensor]) -> float:
    """The median time of a call."""
    watch = Stopwatch([((), {})])
    contender = Contender("", function)
    watch.once(contender)
    return statistics.median(watch.time([contender], _SECONDS)[""].device) / 1000
