"""A finding knows through which places execution comes to it: from the launch into the kernel, and its helpers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.rules.memory.out_of_bounds import OutOfBounds
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.gather import gather
from tritonaudit.suites.journal import Ended, Record, Trial

KERNELS = """\
import torch
import triton
import triton.language as tl


@triton.jit
def read(ptr, offsets):
    return tl.load(ptr + offsets)


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = read(x_ptr, offsets)
    tl.store(out_ptr + offsets, x)


def scale(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    scale_kernel[(triton.cdiv(n, 64),)](
        x, out, n, BLOCK=64
    )
    return out
"""
SPEC = """\
from kernels import scale
from tritonaudit import Subject, Tensor

subject = Subject(scale, reference=lambda x: x.clone(), inputs=[Tensor("n")], dtypes=["float32"])
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("way")
    for name, text in {"kernels.py": KERNELS, "audit_scale.py": SPEC}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def test_a_run_tells_the_way_through_a_helper(folder: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.worker import TryTask, become_device, try_case

    case = Case({"n": 65})
    task = TryTask(folder / "audit_scale.py", "subject", case)
    limits = Limits(seconds=120, memory=8 << 30)
    ((_, outcomes),) = run_tasks(try_case, [task], workers=1, limits=limits, prepare=become_device, arguments=(False,))
    assert isinstance(outcomes, tuple)
    record = Record(tuple(Ended(Trial("call", case.label), outcome, 1.0) for outcome in outcomes))
    run = gather(task.path, "subject", record)
    (kernel,) = run.kernels
    ways = {seen.span.line: [(at.line, how) for at, how in seen.way] for seen in kernel.of(Symptom.OUT_OF_BOUNDS)}
    launched = [(21, "it is launched here"), (12, "into `scale_kernel`")]
    assert ways == {8: [*launched, (14, "it is called here")], 15: launched}
    (hit, *_) = OutOfBounds().check(kernel)
    assert hit.way == kernel.of(Symptom.OUT_OF_BOUNDS)[0].way


def test_the_source_tells_the_way_from_the_launch(folder: Path) -> None:
    audit = check_text(KERNELS.encode(), folder / "kernels.py", Config(folder))
    (found,) = (one for one in audit.findings if one.code == "TAM101")
    assert [(Path(one.path).name, one.span.line, one.message) for one in found.way] == [
        ("kernels.py", 21, "it is launched here"),
        ("kernels.py", 12, "into `scale_kernel`"),
    ]
