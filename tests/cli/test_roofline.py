"""`tritonaudit roofline`: what subjects can reach at best, on a GPU that need not be there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="work is counted on torch's tensors")
pytest.importorskip("triton", reason="subject files import triton")

Command = Callable[..., Any]

SUBJECTS = """
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def copy_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y_ptr + at, tl.load(x_ptr + at, mask=at < n), mask=at < n)


def copy(x):
    y = torch.empty_like(x)
    copy_kernel[(triton.cdiv(x.numel(), 1024),)](x, y, x.numel(), BLOCK=1024)
    return y


def product(a, b):
    return a @ b


def by_value(x):
    return x * float(x.sum())


copy_subject = Subject(copy, reference=torch.clone, inputs=[Tensor("n")])
bare_copy_subject = Subject(copy, inputs=[Tensor("n")])
product_subject = Subject(
    product,
    reference=torch.matmul,
    inputs=[Tensor("m", "k"), Tensor("k", "n")],
    dtypes=["float16"],
    timed={"large": {"m": 8192, "k": 8192, "n": 8192}},
)
by_value_subject = Subject(by_value, reference=by_value, inputs=[Tensor("n")])
given_subject = Subject(copy, inputs=[Tensor("n")], flops=lambda case: 10 * case["n"], bytes=lambda case: 8 * case["n"])
"""


@pytest.fixture
def subjects(tmp_path: Path) -> Path:
    (tmp_path / "audit_some.py").write_text(SUBJECTS)
    return tmp_path


@pytest.fixture
def on_h100(tritonaudit: Command, subjects: Path) -> dict[tuple[str, str], Any]:
    ran = tritonaudit("roofline", subjects, "--part", "H100-SXM", "--output-format", "json", "--jobs", "1")
    assert ran.code == 0, ran.err
    report = json.loads(ran.out)
    assert report["errors"] == []
    assert report["part"]["name"] == "H100-SXM"
    return {(row["subject"], row["size"]): row for row in report["rooflines"]}


def test_rooflines_of_a_part_that_is_not_there(on_h100: dict[tuple[str, str], Any]) -> None:
    copied = on_h100["copy", "large"]
    assert (copied["flops"], copied["bytes"], copied["bound"]) == (0, 2 << 30, "memory")
    assert copied["roof_milliseconds"] == pytest.approx((2 << 30) / 3350e9 * 1e3)
    assert copied["target_milliseconds"] == pytest.approx(copied["roof_milliseconds"] / 0.9)
    assert copied["bandwidth"]["source"]["quote"] == "GPU メモリ帯域幅 | 3,350 GB/sec | 2000 GB/sec"
    product = on_h100["product", "large"]
    assert product["flops"] == 2 * 8192**3
    assert (product["bytes"], product["dtype"], product["bound"]) == (3 * 2 * 8192**2, "float16", "compute")
    assert product["roof_milliseconds"] == pytest.approx(2 * 8192**3 / 989.4e12 * 1e3)
    assert product["ridge"] == pytest.approx(989.4e12 / 3350e9)
    assert on_h100["product", "small"]["bound"] == "memory"
    assert on_h100["bare_copy", "small"]["bytes"] == 2 << 20
    assert on_h100["bare_copy", "small"]["missing"] == ["FLOPs"]
    by_value = on_h100["by_value", "medium"]
    assert (by_value["flops"], by_value["bytes"]) == (0, 128 << 20)
    given = on_h100["given", "small"]
    assert (given["flops_source"], given["intensity"]) == ("given by the subject", 1.25)
    assert given["rate"]["name"] == "vector rate, float32"
    too_large = on_h100["by_value", "large"]
    assert (too_large["bytes"], too_large["roof_milliseconds"]) == (None, None)
    assert too_large["bytes_source"].startswith("on tensors without data the reference raised ")


def test_the_table_has_every_figure_with_its_source(tritonaudit: Command, subjects: Path) -> None:
    ran = tritonaudit("roofline", subjects, "--part", "H100-SXM", "--size", "small", "--jobs", "1")
    assert ran.code == 0
    assert ran.out.startswith("On H100-SXM: NVIDIA H100 SXM5, 80 GB\n")
    lines = ran.out.splitlines()
    row = lines[2 + next(place for place, line in enumerate(lines) if line.startswith("copy  "))]
    assert row.split("  ")[1:3] == ["small", "n=262144 float32"]
    assert row.split()[-4:] == ["626", "ns", "696", "ns"]
    assert "large" not in ran.out.split("DRAM bandwidth")[0]
    assert "DRAM bandwidth: 3,350 GB/s\n  NVIDIA H100 data sheet" in ran.out
    assert "matrix rate, float16: 989.4 TFLOP/s\n" in ran.out


def test_what_is_unknown_of_a_part_is_said_and_nothing_computed_from_it(tritonaudit: Command, subjects: Path) -> None:
    own = subjects / "lab.json"
    own.write_text(json.dumps({"sources": {}, "parts": {"LAB": {"title": "lab", "figures": []}}}))
    ran = tritonaudit("roofline", subjects, "--part", "LAB", "--hardware", own, "--size", "small", "--jobs", "1")
    assert ran.code == 0
    assert "unknown for want of: DRAM bandwidth, matrix rate, float16\n" in ran.out
    assert "DRAM bandwidth: UNKNOWN\n  no source was found\n" in ran.out


@pytest.mark.skipif(torch.cuda.is_available(), reason="without --part it is of the GPU that is there")
def test_without_a_gpu_a_part_is_to_be_named(tritonaudit: Command, subjects: Path) -> None:
    ran = tritonaudit("roofline", subjects)
    assert ran.code == 2
    assert "there is no GPU here: name one with --part" in ran.err


def test_a_file_that_cannot_be_run_is_a_problem(tritonaudit: Command, tmp_path: Path) -> None:
    (tmp_path / "audit_bad.py").write_text("from tritonaudit import Subject\n1 / 0\n")
    ran = tritonaudit("roofline", tmp_path, "--part", "T4", "--jobs", "1")
    assert ran.code == 2
    assert "audit_bad.py:2: " in ran.out
    assert "division by zero" in ran.out


def test_an_unknown_size(tritonaudit: Command, tmp_path: Path) -> None:
    ran = tritonaudit("roofline", tmp_path, "--part", "T4", "--size", "huge")
    assert ran.code == 2
    assert "'huge' is not one of small, medium, large" in ran.err
