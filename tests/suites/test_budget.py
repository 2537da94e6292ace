"""A subject's seconds are spent on trying it: what its process needs before anything was tried is no part of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.hostile.subjects import KERNELS
from tritonaudit.config import Config

pytest.importorskip("torch")
pytest.importorskip("triton")

SUBJECT = """
import time

from kernels import double_kernel, launched

from tritonaudit import Subject, Tensor

waited = []


def double(x):
    if not waited:
        time.sleep(4)
        waited.append(True)
    return launched(double_kernel, x)


double_subject = Subject(double, reference=lambda x: 2 * x, inputs=[Tensor("n")])
"""


def test_a_slow_first_call_takes_no_time_from_the_cases(tmp_path: Path) -> None:
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    (tmp_path / "kernels.py").write_text(KERNELS)
    (tmp_path / "audit_double.py").write_text(SUBJECT)
    found = run_paths([tmp_path], Config(tmp_path), RunRequest(3.0, 1, device=Where.CPU))
    (run,) = found.runs
    assert run.cases >= 8, run.left_out
