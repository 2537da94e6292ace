"""Kernels that no subject launches, launched as inferred in a process with a stand-in GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the stand-in tensors")
pytest.importorskip("triton", reason="triton specialises the launches")

from tests.capture.projects import write
from tritonaudit.capture.task import become_gpu
from tritonaudit.capture.unasked import MOST_CONFIGS, Inferred, InferTask, infer_launches
from tritonaudit.execute.pool import Limits, run_tasks

LIMITS = Limits(seconds=120, memory=4 << 30)

SCALED = """
@triton.jit
def kernel(x_ptr, scale_ptr, out_ptr, n, HAS_SCALE: tl.constexpr, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    {body}
    tl.store(out_ptr + offsets, x * scale, mask=offsets < n)


def scaled(x: torch.Tensor, scale: torch.Tensor | None = None):
    out = torch.empty_like(x)
    {host}
    kernel[(1,)](x, scale, out, x.numel(), scale is not None, BLOCK=128)
    return out
"""
ONLY_WHERE_GIVEN = "if HAS_SCALE:\n        scale = tl.load(scale_ptr)"
ALWAYS = f"scale = 1.0\n    {ONLY_WHERE_GIVEN}"


def inferred(root: Path, text: str) -> Inferred:
    path = write(root, {"ops.py": text}) / "ops.py"
    task = InferTask(root, path, "kernel")
    ((_, found),) = run_tasks(
        infer_launches, [task], workers=1, limits=LIMITS, prepare=become_gpu, arguments=("sm_90",)
    )
    assert isinstance(found, Inferred), found
    return found


def refused(found: Inferred) -> dict[str, str]:
    return {launch.case: launch.error.message for launch in found.launches if launch.error is not None}


ROWS = """
@triton.autotune(configs=[triton.Config({{"BLOCK": block}}) for block in {blocks}], key=["n"])
@triton.jit
def kernel(x_ptr, n, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, {size}), 0.0, mask=tl.arange(0, {size}) < n)
"""


@pytest.mark.parametrize(("size", "is_certain"), [("BLOCK", True), ("SIZE + 1", False)])
def test_an_odd_size_is_certain_where_a_config_gives_it(tmp_path: Path, size: str, is_certain: bool) -> None:
    found = inferred(tmp_path, ROWS.format(blocks=(64, 48), size=size))
    errors = [launch.error for launch in found.launches if launch.error is not None]
    assert errors
    assert {error.is_certain for error in errors} == {is_certain}


def test_it_learns_how_many_configs_there_are(tmp_path: Path) -> None:
    found = inferred(tmp_path, ROWS.format(blocks=(16, 32, 64, 128, 256, 512), size="BLOCK"))
    assert found.configs == 6
    assert len({launch.config for launch in found.launches}) == MOST_CONFIGS


def test_an_optional_tensor_is_left_out_too(tmp_path: Path) -> None:
    found = inferred(tmp_path, SCALED.format(body=ONLY_WHERE_GIVEN, host=""))
    assert refused(found) == {"as inferred, without the wrapper's `scale`": "scale is not defined"}
    assert found.launches[0].program is not None
    assert refused(inferred(tmp_path, SCALED.format(body=ALWAYS, host=""))) == {}


@pytest.mark.parametrize(
    "host",
    [
        "assert scale is not None",
        "if scale is None:\n        raise ValueError('give a scale')",
        "if scale is None:\n        return x",
        "scale = torch.ones_like(x) if scale is None else scale",
        "scale = scale.contiguous()",
    ],
)
def test_a_tensor_that_the_wrapper_asks_for_is_not_left_out(tmp_path: Path, host: str) -> None:
    assert refused(inferred(tmp_path, SCALED.format(body=ONLY_WHERE_GIVEN, host=host))) == {}


def test_other_dtypes_and_integers_of_1_are_tried(tmp_path: Path) -> None:
    text = """
    @triton.jit
    def kernel(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
        offsets = tl.arange(0, BLOCK) * stride.to(tl.int64)
        tl.store(out_ptr + offsets, tl.load(x_ptr + offsets).to(tl.float16).to(tl.int16, bitcast=True))


    def run(x):
        kernel[(1,)](x, torch.empty_like(x, dtype=torch.int16), x.stride(0), BLOCK=128)
    """
    (case,) = refused(inferred(tmp_path, text))
    assert case == "as inferred, integers of 1"
