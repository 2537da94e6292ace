"""What is captured on one GPU for others, and what has each captured for itself."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the stand-in tensors")
pytest.importorskip("triton", reason="triton specialises the launches")

import triton

from tritonaudit.capture.launch import Launch
from tritonaudit.capture.task import Captured, become_gpu, capture_all
from tritonaudit.compile.capturing import capture_subjects, infer_kernels
from tritonaudit.execute.pool import Limits, run_tasks

VERSION = tuple(map(int, triton.__version__.split(".")[:2]))
LIMITS = Limits(seconds=120, memory=4 << 30)
OTHERS = ("sm_80", "sm_90")
ROOT = Path(__file__).parents[2]

HEAD = """
import subprocess
import torch
import triton
import triton.language as tl
from tritonaudit import Subject, Tensor

@triton.jit
def kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    {body}

def wrapper(x):
    {host}
    out = torch.empty_like(x)
    kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256{options})
    return out

same = Subject(wrapper, reference=torch.clone, inputs=[Tensor("n")])
"""
COPY = "tl.store(out_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)"
DOT = """index = tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :]
    block = tl.load(x_ptr + index, mask=index < n, other=0.0)
    tl.store(out_ptr + index, tl.dot(block, block).to(block.dtype), mask=index < n)"""
NARROW = """block = tl.load(x_ptr + offsets, mask=mask).to(tl.float32)
    tl.store(out_ptr + offsets, block.to(tl.float8e4nv).to(tl.float32), mask=mask)"""
DESCRIBED = """whole = tl.make_tensor_descriptor(x_ptr, shape=[n], strides=[1], block_shape=[BLOCK])
    tl.store(out_ptr + offsets, whole.load([tl.program_id(0) * BLOCK]), mask=mask)"""


def written(folder: Path, body: str = COPY, host: str = "", options: str = "") -> Path:
    path = folder / "audit_same.py"
    path.write_text(HEAD.format(body=body, host=host or "pass", options=options))
    return path


def captured(path: Path, *others: str) -> tuple[Captured, ...]:
    ((_, outcome),) = run_tasks(
        capture_all, [path], workers=1, limits=LIMITS, prepare=become_gpu, arguments=("sm_100", *others)
    )
    assert isinstance(outcome, tuple), outcome
    return outcome


def siblings(path: Path) -> set[str]:
    """The other targets for which capturing on the newest is known to do."""
    return {sibling.target for one in captured(path, *OTHERS) for sibling in one.siblings}


@pytest.mark.parametrize("body", [COPY, DOT], ids=["copy", "dot"])
def test_what_asks_for_nothing_is_captured_once(body: str, tmp_path: Path) -> None:
    assert siblings(written(tmp_path, body)) == set(OTHERS)


@pytest.mark.parametrize(
    "asks",
    [
        "torch.cuda.get_device_capability()",
        "torch.cuda.get_device_properties(0)",
        "torch.cuda.get_device_name()",
        "torch.cuda.mem_get_info()",
        "torch.cuda.is_bf16_supported()",
        "triton.runtime.driver.active.get_current_target()",
        "triton.runtime.driver.active.utils.get_device_properties(0)",
        "subprocess.run(['nvidia-smi'], stdout=subprocess.DEVNULL)",
        "__import__('os').system('true')",
        "kernel[(1,)](x, torch.empty_like(x), x.numel(), BLOCK=256).metadata",
    ],
)
def test_what_host_code_asks_tells_gpus_apart(asks: str, tmp_path: Path) -> None:
    assert siblings(written(tmp_path, host=asks)) == set()


def test_so_does_what_it_asks_when_it_is_imported(tmp_path: Path) -> None:
    path = written(tmp_path)
    path.write_text(path.read_text().replace("@triton.jit", "CAN = torch.cuda.get_device_capability()\n@triton.jit"))
    assert siblings(path) == set()


def test_a_type_that_older_gpus_lack_tells_them_apart(tmp_path: Path) -> None:
    assert siblings(written(tmp_path, NARROW)) == set()


def test_an_option_that_older_gpus_refuse_tells_them_apart(tmp_path: Path) -> None:
    if VERSION < (3, 9):
        pytest.skip("Triton refuses clusters on older GPUs from 3.9 on")
    assert siblings(written(tmp_path, options=", num_ctas=2")) == set()


def test_a_launch_that_is_refused_tells_them_apart(tmp_path: Path) -> None:
    assert siblings(written(tmp_path, options=", num_warps=3")) == set()


def test_a_tensor_descriptor_tells_them_apart(tmp_path: Path) -> None:
    if VERSION < (3, 4):
        pytest.skip("kernels make descriptors from Triton 3.4 on")
    assert siblings(written(tmp_path, DESCRIBED)) == set()


@pytest.mark.parametrize(
    "path",
    [
        Path(__file__).parent / "audit_capture.py",
        ROOT / "examples" / "compiled" / "audit_matmul.py",
        ROOT / "bench" / "written" / "subjects" / "audit_flow_warp.py",
        ROOT / "bench" / "cheating" / "honest" / "audit_attention_lse.py",
        ROOT / "bench" / "cheating" / "honest" / "pair_leaky_integrator.py",
    ],
    ids=lambda path: path.stem,
)
def test_each_target_has_what_it_would_capture_itself(path: Path) -> None:
    """With few processes what one target shows may do for others, with many each is asked itself."""
    targets = ("sm_80", "sm_90", "sm_100", "gfx942")
    few, many = (capture_subjects([path], targets, jobs) for jobs in (2, 4))
    assert few.launches == many.launches
    assert {launch.target for launch in few.launches} == set(targets)
    assert (few.sweeps, few.problems, few.outcomes) == (many.sweeps, many.problems, many.outcomes)
    assert all(launch.program is None or _is_of(launch.target, launch) for launch in few.launches)


def _is_of(target: str, launch: Launch) -> bool:
    arch = str(dict(launch.program.options).get("arch", "")) if launch.program else ""
    return arch in ("", target, target.replace("_", ""), target.removeprefix("sm_"))


@pytest.mark.parametrize("targets", [("sm_80", "sm_90", "sm_100", "gfx942"), ("gfx942", "sm_80", "gfx950", "sm_90")])
def test_what_is_inferred_is_so_for_each_target(targets: tuple[str, ...], tmp_path: Path) -> None:
    path = written(tmp_path)
    few, many = (infer_kernels([path], set(), targets, jobs) for jobs in (2, 4))
    assert few.launches == many.launches
    assert [launch.target for launch in few.launches] == list(targets)
    assert (few.problems, few.outcomes) == (many.problems, many.outcomes)
