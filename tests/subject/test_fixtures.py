"""The subjects of fixtures/subjects give what their references give, but for the one with a planted bug."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from tests.checkout import ROOT, environment  # noqa: E402

PROGRAM = """
import sys
from pathlib import Path

import torch
from triton.runtime.autotuner import Autotuner

from tritonaudit.subject.find import subject_files
from tritonaudit.subject.inputs import call, make_inputs, tensors_in
from tritonaudit.subject.load import load_subjects
from tritonaudit.subject.model import Case, Layout

Autotuner._bench = lambda *_, **__: [1.0, 1.0, 1.0]  # there is no GPU to measure on

for path in subject_files(sorted(Path("fixtures/subjects").rglob("*.py"))):
    for subject in load_subjects(path):
        sizes = dict(zip(subject.dimensions, (3, 7, 5)))
        for layout in [Layout.CONTIGUOUS] if callable(subject.inputs) or subject.mutates else Layout:
            case = Case(sizes, layout=layout, device="cpu")
            results = []
            for function in (subject.function, subject.reference):
                positional, keywords = make_inputs(subject, case)
                out = call(function, positional, keywords, gradients=subject.gradients)
                results.append([*tensors_in(out), *(t.grad for t in tensors_in(positional) if t.requires_grad)])
            torch.testing.assert_close(*results, msg=f"{subject.name} {case.label}")
        print(subject.name)
"""


@pytest.mark.slow
@pytest.mark.skipif(
    tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9),
    reason="the interpreter of earlier Triton versions needs an earlier numpy",
)
def test_every_subject_agrees_with_its_reference() -> None:
    variables = {**environment(), "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "add_scaled",
        "gated_linear_new",
        "softmax/v1_baseline",
        "softmax/v2_online",
        "layer_norm",
        "matmul",
        "softmax",
        "by_function",
        "by_offsets",
    ]
