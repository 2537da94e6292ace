"""Launches that a GPU does not survive are reported, and the rest goes on. Needs a GPU."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import ROOT

pytest.importorskip("triton", reason="Triton compiles the kernels")
torch = pytest.importorskip("torch", reason="torch holds the tensors")

from tritonaudit.config import Config  # noqa: E402
from tritonaudit.suites.coverage import Verdict  # noqa: E402
from tritonaudit.suites.stage import RunAudit, RunRequest, Where, run_paths  # noqa: E402

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: nothing can be lost on it")

KERNELS = """\
import torch
import triton
import triton.language as tl


@triton.jit
def right_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes, mask=lanes < n) * 2, mask=lanes < n)


@triton.jit
def wild_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes + (1 << 45), mask=lanes < n) * 2, mask=lanes < n)


@triton.jit
def spinning_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    while tl.atomic_add(out_ptr, 0.0) != 1e30:
        pass
    tl.store(out_ptr + lanes, tl.load(x_ptr + lanes, mask=lanes < n) * 2, mask=lanes < n)


def doubling(kernel):
    def double(x):
        x = x.contiguous()
        out = torch.empty_like(x)
        if x.numel():
            kernel[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out

    return double
"""
SPEC = """\
from kernels import doubling, right_kernel, spinning_kernel, wild_kernel

from tritonaudit import Subject, Tensor

twice = {"reference": lambda x: x * 2, "inputs": [Tensor("n")], "dtypes": ["float32"]}
right = Subject(doubling(right_kernel), **twice, name="right")
wild = Subject(doubling(wild_kernel), **twice, name="wild")
spinning = Subject(doubling(spinning_kernel), **twice, name="spinning")
"""


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> RunAudit:
    folder = tmp_path_factory.mktemp("lost")
    (folder / "kernels.py").write_text(KERNELS)
    (folder / "audit_lost.py").write_text(SPEC)
    return run_paths([folder], Config(folder), RunRequest(seconds=8, jobs=3, device=Where.GPU))


def found(audited: RunAudit, kernel: str) -> list[tuple[str, str]]:
    return [(one.code, one.message) for one in audited.audit.findings if one.kernel == kernel]


def test_an_illegal_access_is_reported_of_its_kernel(audited: RunAudit) -> None:
    assert any(code == "TAC407" and "illegal memory access" in text for code, text in found(audited, "wild_kernel"))


def test_a_launch_that_does_not_end_is_reported_of_its_kernel(audited: RunAudit) -> None:
    assert any(code == "TAC407" and "does not end" in text for code, text in found(audited, "spinning_kernel"))


def test_the_subject_beside_them_is_audited_as_ever(audited: RunAudit) -> None:
    assert found(audited, "right_kernel") == []
    (run,) = (one for one in audited.runs if one.name == "right")
    assert run.cases > 3


@pytest.mark.parametrize(
    ("subject", "verdicts"),
    [
        ("cheats/audit_reference_swap.py", {Verdict.FAIL}),
        ("cheats/pair_patched_rsqrt.py", {Verdict.FAIL}),
        ("cheats/audit_reference_calls_wrapper.py", {Verdict.FAIL, Verdict.INCOMPLETE}),
        ("cheats/pair_side_stream.py", {Verdict.FAIL}),
        ("honest/pair_twin_custom_op.py", {Verdict.PASS, Verdict.WARN}),
        ("honest/audit_unscale_many.py", {Verdict.PASS, Verdict.WARN}),
        ("honest/audit_top_k.py", {Verdict.PASS, Verdict.WARN}),  # torch sorts NaN by its sign bit on a GPU
        ("honest/pair_connectionist_loss.py", {Verdict.PASS, Verdict.WARN}),  # lost where the reference refuses
    ],
)
def test_the_wrapper_is_called_apart_from_its_judge(subject: str, verdicts: set[Verdict]) -> None:
    path = ROOT / "bench" / "cheating" / subject
    (run,) = run_paths([path], Config(path.parent), RunRequest(seconds=8, jobs=2, device=Where.GPU)).runs
    assert run.verdict in verdicts, run


AWAITED = """
import torch
from kernels import doubling, right_kernel

from tritonaudit import Subject, Tensor

SIDE = torch.cuda.Stream()
double = doubling(right_kernel)


def awaited(x):
    SIDE.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(SIDE):
        out = double(x)
    torch.cuda.current_stream().wait_stream(SIDE)
    return out


awaited_subject = Subject(awaited, reference=lambda x: x * 2, inputs=[Tensor("n")], dtypes=["float32"])
"""


def test_a_stream_of_its_own_is_fair_for_which_somebody_waits(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "audit_awaited.py").write_text(AWAITED)
    (run,) = run_paths([tmp_path], Config(tmp_path), RunRequest(seconds=8, jobs=2, device=Where.GPU)).runs
    assert run.verdict in (Verdict.PASS, Verdict.WARN), run


IMPATIENT = """
import time

import torch
from kernels import doubling, right_kernel

from tritonaudit import Subject, Tensor

SIDE = torch.cuda.Stream()
double = doubling(right_kernel)


def impatient(x):
    SIDE.wait_stream(torch.cuda.current_stream())
    torch.cuda.synchronize()
    with torch.cuda.stream(SIDE):
        out = double(x)
    began = time.monotonic()
    while not SIDE.query():
        if time.monotonic() - began > 0.005:
            raise RuntimeError("the kernel is late")
    return out


impatient_subject = Subject(impatient, reference=lambda x: x * 2, inputs=[Tensor("n")], dtypes=["float32"])
"""


def test_nothing_is_known_of_a_stream_where_the_call_fails_as_soon_as_that_is_late(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "audit_impatient.py").write_text(IMPATIENT)
    (run,) = run_paths([tmp_path], Config(tmp_path), RunRequest(seconds=8, jobs=2, device=Where.GPU)).runs
    assert run.verdict is Verdict.INCOMPLETE, run
    assert any("comes late" in one.reason for one in run.outcomes), run
