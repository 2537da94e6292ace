"""What types of launches settle for the source stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from tritonaudit.capture.launch import KernelRef, Launch
from tritonaudit.compile import settle as settle_module
from tritonaudit.compile.settle import Settled, settle, settle_all
from tritonaudit.config import Config
from tritonaudit.finding import Audit, Confidence

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


ADDRESSED = """\
import triton
import triton.language as tl


@triton.jit
def rows(x_ptr, out_ptr, bias_ptr, stride, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    value = tl.load(x_ptr + row * stride + lanes, mask=lanes < n, other=0)
    if bias_ptr is not None:
        value += tl.load(bias_ptr + lanes, mask=lanes < n, other=0)
    total = tl.sum(value.to(x_ptr.dtype.element_ty), axis=0)
    tl.store(out_ptr + row * stride + lanes, value, mask=lanes < n)
"""


def launch(path: Path, ones: tuple[str, ...] = (), **kinds: str) -> Launch:
    signature = {"x_ptr": "*fp32", "out_ptr": "*fp32", "bias_ptr": "*fp32", "stride": "i32", "n": "i32", **kinds}
    return Launch(
        kernel=KernelRef(str(path), "rows", 6),
        target="sm_90",
        case="",
        config="",
        grid=(1, 1, 1),
        signature=(*signature.items(), ("BLOCK", "constexpr")),
        arguments=(),
        specialisation=tuple((name, "one") for name in ones),
    )


def signatures_judged(launches: list[Launch], monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What the parameters other than `BLOCK` had for types in each judgement, but for that without any."""
    given: list[dict[str, str]] = []
    real = settle_module.check_typed

    def check_typed(path: Path, config: Config, types: Mapping[str, Mapping[str, str]]) -> Audit:
        given.extend(dict(kinds) for kinds in types.values())
        return real(path, config, types)

    monkeypatch.setattr(settle_module, "check_typed", check_typed)
    settle_all(launches, Config(root=Path(launches[0].kernel.path).parent))
    return given


def test_a_launch_with_a_1_is_judged_with_what_others_pass_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(ADDRESSED, encoding="utf-8")
    wide = launch(path, stride="i64")
    one = launch(path, ones=("n",), n="constexpr", stride="i64")
    assert [kinds["n"] for kinds in signatures_judged([one, wide, one], monkeypatch)] == ["i32"]


def test_one_with_nothing_instead_of_a_tensor_is_judged_for_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(ADDRESSED, encoding="utf-8")
    launches = [launch(path), launch(path, bias_ptr="constexpr"), launch(path, ones=("n",), n="constexpr")]
    assert [kinds["bias_ptr"] for kinds in signatures_judged(launches, monkeypatch)] == ["*fp32", "constexpr"]


DESCRIBED = """\
import triton
import triton.language as tl


@triton.jit
def copied(given, out_ptr, n, BLOCK: tl.constexpr):
    lanes = tl.arange(0, BLOCK)
    for start in range(0, n, BLOCK):
        tl.store(out_ptr + start + lanes, {value}, mask=start + lanes < n)
"""


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("tensordesc<fp32[128]>", "given.load([start])"),
        ("('*fp32', '*fp32')", "tl.load(given[0] + start + lanes, mask=start + lanes < n)"),
        ("u1", "tl.where(given, lanes, 0)"),
    ],
    ids=["descriptor", "tuple", "bool"],
)
def test_what_is_neither_a_number_nor_a_pointer_is_not_taken_for_one(kind: str, value: str, path: Path) -> None:
    path.write_text(DESCRIBED.format(value=value), encoding="utf-8")
    types = {"given": kind, "out_ptr": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    assert settle(path, {"copied": [types]}, Config(root=path.parent)).confirmed == ()


def test_kernels_of_one_name_are_not_taken_for_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(ADDRESSED, encoding="utf-8")
    other = launch(path, ones=("n",), n="constexpr")
    fewer = replace(other, signature=tuple(one for one in other.signature if one[0] != "bias_ptr"))
    renamed = replace(other, signature=tuple((name.replace("n", "m"), kind) for name, kind in other.signature))
    given = signatures_judged([launch(path), fewer, renamed], monkeypatch)
    assert [sorted(kinds) for kinds in given] == [
        ["BLOCK", "bias_ptr", "n", "out_ptr", "stride", "x_ptr"],
        ["BLOCK", "n", "out_ptr", "stride", "x_ptr"],
        ["BLOCK", "bias_ptr", "m", "out_ptr", "stride", "x_ptr"],
    ]
