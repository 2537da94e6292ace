"""What types of launches settle for the source stage."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.compile.settle import Settled, settle
from tritonaudit.config import Config
from tritonaudit.finding import Confidence

KERNELS = """\
import triton
import triton.language as tl


@triton.jit
def running_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), dtype=x_ptr.dtype.element_ty)
    for start in range(0, n, BLOCK):
        mask = start + lanes < n
        total += tl.load(x_ptr + start + lanes, mask=mask, other=0)
    tl.store(out_ptr + lanes, total)
"""

HALF = {"x_ptr": "*fp16", "out_ptr": "*fp16", "n": "i32", "BLOCK": "constexpr"}
SINGLE = {**HALF, "x_ptr": "*fp32", "out_ptr": "*fp32"}
WHOLE = {**HALF, "x_ptr": "*i32", "out_ptr": "*i32"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS, encoding="utf-8")
    return file


def settled(path: Path, *signatures: dict[str, str]) -> Settled:
    return settle(path, {"running_sum": signatures}, Config(root=path.parent))


def test_an_accumulator_that_is_seen_to_be_half_precision_is_confirmed(path: Path) -> None:
    (finding,) = settled(path, SINGLE, HALF).confirmed
    assert (finding.code, finding.span.line, finding.confidence) == ("TAN101", 11, Confidence.HIGH)
    assert finding.witness is not None
    assert finding.witness.description == "seen in a launch with x_ptr: *fp16, out_ptr: *fp16, n: i32"


@pytest.mark.parametrize("signatures", [(SINGLE,), (WHOLE,), (SINGLE, WHOLE)])
def test_types_that_are_wide_in_every_launch_refute_it(path: Path, signatures: tuple[dict[str, str], ...]) -> None:
    found = settled(path, *signatures)
    assert found.confirmed == ()
    assert [finding.code for finding in found.refuted] == ["TAN101"]


def test_one_half_precision_launch_is_enough_not_to_refute_it(path: Path) -> None:
    assert settled(path, SINGLE, HALF).refuted == ()


def test_a_comment_suppresses_it_as_ever(path: Path) -> None:
    text = KERNELS.replace("mask=mask, other=0)", "mask=mask, other=0)  # tritonaudit: ignore[TAN101]")
    path.write_text(text, encoding="utf-8")
    assert settled(path, HALF) == Settled()


def test_a_kernel_that_was_not_launched_is_left_alone(path: Path) -> None:
    assert settle(path, {}, Config(root=path.parent)) == Settled()
