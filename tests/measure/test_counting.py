"""The work of subjects is counted for as long as it may take, and no longer."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch makes the stand-in tensors")
pytest.importorskip("triton", reason="wrappers launch with it")

from tritonaudit.measure.counting import DEFAULT_TARGET, count_files

SUBJECTS = """
import torch
from tritonaudit import Subject, Tensor

def slow(x):
    total = torch.zeros_like(x)
    for step in range(10**7):
        total = total + x
    return total

never = Subject(torch.clone, reference=slow, inputs=[Tensor("n")], name="never")
double = Subject(torch.clone, reference=lambda x: 2 * x, inputs=[Tensor("n")], name="double")
"""


def test_a_reference_that_goes_on_costs_no_more_than_its_share(tmp_path: Path) -> None:
    path = tmp_path / "audit_two.py"
    path.write_text(SUBJECTS)
    began = time.monotonic()
    counted, problems = count_files([path], DEFAULT_TARGET, 1, seconds=1.0)
    assert problems == ()
    assert time.monotonic() - began < 20
    of = {name: [one.work for one in counted if one.subject == name] for name in ("never", "double")}
    assert all(work.flops is not None for work in of["double"])
    assert [work.flops for work in of["never"]] == [None] * 3
    assert "took longer than 1 s" in of["never"][0].flops_source
    assert all("took longer than" in work.flops_source for work in of["never"])
