"""Tensors of more elements than an int32 counts, in kernels that go where small tensors of integers say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.finding import Outcome, Status
from tritonaudit.subject.model import Offsets, Subject, Tensor
from tritonaudit.suites.facts import Symptom

FOLDER = ROOT / "tests" / "suites" / "subjects" / "large"


@pytest.mark.slow
def test_targets_are_there_to_be_followed() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(seconds=300, jobs=2, device=Where.CPU, most_cases=1)
    runs = run_paths([FOLDER], Config(ROOT), request).runs
    seen = {run.name: {one.symptom for trial in run.trials for one in trial.sightings} for run in runs}
    overflows = {Symptom.OVERFLOW}
    assert seen == {
        "wide": set(),
        "narrow": overflows,
        "counted": overflows,
        "appended": set(),
        "firsts_narrow": overflows,
        "firsts_wide": set(),
    }
    reasons = {run.name: {reason for trial in run.trials for _, reason in trial.unchecked} for run in runs}
    assert not any("not known" in one for one in reasons["wide"])
    (reason,) = [one for one in reasons["appended"] if "not known" in one]
    assert reason.startswith("on tensors without memory: in `appended_kernel` address from a value that is not known")
    (outcome,) = [
        one for run in runs if run.name == "appended" for one in run.outcomes if one.check.startswith("large tensors")
    ]
    assert (outcome.status, outcome.reason) == (Status.NOT_RUN, reason)


@pytest.mark.slow
def test_a_grid_that_no_gpu_takes_is_reported_of_large_tensors() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    request = RunRequest(seconds=60, jobs=2, device=Where.CPU, most_cases=1)
    runs = run_paths([FOLDER.parent / "large_grid"], Config(ROOT), request).runs
    large = [[one for one in run.outcomes if one.check.startswith("large tensors")] for run in runs]
    seen = {run.name: (outcome.status, outcome.reason) for run, (outcome,) in zip(runs, large, strict=True)}
    too_many = "the grid has 8,389,632 programs along y, and a GPU takes at most 65,535"
    assert seen["along_y"] == (Status.WARN, too_many)
    assert seen["folded"][0] is Status.PASS


GIVEN = ROOT / "tests" / "suites" / "subjects" / "large_given"


@pytest.fixture(scope="module")
def given() -> dict[str, Outcome]:
    """What tensors so large came to where a function makes the inputs."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    runs = run_paths([GIVEN], Config(ROOT), RunRequest(seconds=30, jobs=2, device=Where.CPU, most_cases=1)).runs
    large = [[one for one in run.outcomes if one.check.startswith("large tensors")] for run in runs]
    return {run.name: outcome for run, (outcome,) in zip(runs, large, strict=True)}


@pytest.mark.slow
@pytest.mark.parametrize("how", ["of_the_case", "by_size", "by_picks", "by_rows"])
def test_an_offset_of_64_bits_passes_where_a_function_makes_the_inputs(how: str, given: dict[str, Outcome]) -> None:
    assert given[f"wide_{how}"].status is Status.PASS


NARROW = ["narrow_of_the_case", "narrow_by_size", "narrow_by_generator", "narrow_by_picks"]
NARROW += ["narrow_named_freely", "narrow_by_flag", "pair_narrow"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NARROW)
def test_one_of_32_bits_does_not(name: str, given: dict[str, Outcome]) -> None:
    assert given[name].status is Status.WARN
    assert given[name].reason.startswith("address from an integer that overflowed by program (5592406, 0, 0)")


@pytest.mark.slow
def test_indices_reach_the_last_rows_of_a_large_table(given: dict[str, Outcome]) -> None:
    """Also through what the wrapper sorts them by, and where the function for the inputs draws them for usual sizes."""
    assert given["narrow_by_rows"].status is Status.WARN
    assert given["narrow_by_rows"].reason.startswith("address from an integer that overflowed by program (23, 0, 0)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("narrow_in_memory", "the function for the inputs makes 393,216 elements in memory"),
        ("narrow_named", "the subject names the sizes to try"),
    ],
)
def test_where_it_cannot_be_done_it_says_why(name: str, why: str, given: dict[str, Outcome]) -> None:
    assert (given[name].status, given[name].reason) == (Status.NOT_RUN, f"with so many elements: {why}")


def test_a_dimension_grows_that_the_reference_lets() -> None:
    torch = pytest.importorskip("torch")
    from tritonaudit.suites.large import large_cases, why_none

    def made(*shape: int, **more: Any) -> Subject:
        return Subject(abs, inputs=lambda case: torch.randn(shape), dtypes=["float32"], **more)

    assert [case.label for case in large_cases(made(1 << 20))] == ["dim_1048576=2147484673 float32"]
    square = [case.label for case in large_cases(made(64, 64))]
    assert square == ["dim_64=47364 float32", "dim_64=47364 float32 transposed"]
    fixed = made(64, reference=lambda x: x + torch.ones(64, device=x.device))
    assert list(large_cases(fixed)) == []
    assert why_none(fixed).startswith("dim_64: the reference refuses other sizes: ")


def test_each_dimension_alone_goes_beyond_32_bits() -> None:
    from tritonaudit.suites.large import large_cases

    named = {"batch": [2, 1, 3], "rows": [16, 1, 33], "cols": [32, 1, 31]}
    subject = Subject(abs, inputs=[Tensor("batch", "rows", "cols")], sizes=named)
    cases = list(large_cases(subject))
    assert [case.label for case in cases] == [
        "batch=4195328 rows=16 cols=32 float32",
        "batch=2147484672 rows=1 cols=1 float32 transposed",
        "batch=1 rows=67109888 cols=32 float32",
        "batch=2 rows=1073742848 cols=1 float32 transposed",
        "batch=1 rows=1 cols=2147484672 float32",
        "batch=2 rows=16 cols=67109888 float32 transposed",
    ]


def test_a_result_with_a_row_for_each_part_of_offsets_goes_beyond_them_too() -> None:
    from tritonaudit.suites.large import large_cases

    named = {"rows": [30, 7], "dim": [32, 33], "tokens": [64, 9], "parts": [8, 3]}
    inputs = [Tensor("rows", "dim"), Tensor("tokens", dtype="int32", high="rows"), Offsets("parts", "tokens")]
    cases = [case.sizes for case in large_cases(Subject(abs, inputs=inputs, sizes=named)) if case["parts"] != 8]
    assert cases == [{"rows": 30, "dim": 4096, "tokens": 64, "parts": (1 << 19) + 1024}]


def test_what_host_code_makes_of_small_integers_is_known_too() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.calling import Observed
    from tritonaudit.suites.followed import Followed
    from tritonaudit.suites.integers import identity

    rows, values = torch.empty(4, dtype=torch.int32, device="meta"), torch.empty(4, device="meta")
    observed = Observed(contents={identity(rows): torch.tensor([7, 5, 7, 0], dtype=torch.int32)})
    with Followed(observed):
        ordered, order = torch.sort(rows, stable=True)
        weighted = rows * values
        changed = rows.clone()
        changed += values.to(torch.int32)
    held = [observed.contents.get(identity(one)) for one in (ordered, order, weighted, changed)]
    assert [None if one is None else one.tolist() for one in held] == [[0, 5, 7, 7], [3, 1, 0, 2], None, None]


def test_a_dimension_of_which_the_sizes_have_something_in_common_stays_as_it_is() -> None:
    from tritonaudit.suites.large import large_cases, why_none

    heads = Subject(abs, inputs=[Tensor("rows", "dim")], sizes={"dim": [64, 128], "rows": [64]})
    assert list(large_cases(heads)) == []
    assert why_none(heads) == "the subject names the sizes to try"
    rows = Subject(abs, inputs=[Tensor("rows", "dim")], sizes={"dim": [64, 128]})
    assert {case["dim"] for case in large_cases(rows)} == {64}
    assert why_none(rows) == ""


CONTIGUOUS_ONLY = """
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


def twice(x):
    if not x.is_contiguous():
        raise ValueError("contiguous tensors only")
    out = torch.empty_like(x)
    twice_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


subject = Subject(twice, reference=lambda x: 2 * x, inputs=[Tensor("rows", "cols")], dtypes=["float32"])
"""


@pytest.mark.slow
def test_a_view_that_the_wrapper_refuses_is_said_to_be_refused(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    spec = tmp_path / "audit_twice.py"
    spec.write_text(CONTIGUOUS_ONLY)
    (run,) = run_paths([spec], Config(tmp_path), RunRequest(1, 1, device=Where.CPU, most_cases=1)).runs
    (views,) = [one for one in run.outcomes if one.check.startswith("views of large tensors")]
    assert views.status is Status.NOT_RUN
    assert views.reason.startswith("the wrapper refuses the case: raised ValueError: contiguous tensors only")
