"""Floats of 8 bits, which torch can make and hardly compute with."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.subject.model import Case
from tritonaudit.suites.coverage import Verdict
from tritonaudit.suites.stability import HARDSHIPS, can_hold

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

FILE = ROOT / "tests" / "suites" / "subjects" / "eight_bits" / "audit_eight_bits.py"
HONEST = ROOT / "bench" / "cheating" / "honest" / "pair_twin_fp8_output.py"


def tried(capsys: pytest.CaptureFixture[str], subject: str, dtype: str, fill: str = "normal") -> list[str]:
    """What is seen of a case, without what it says of the case."""
    from tritonaudit.suites.reproduce import reproduce

    case = Case({"rows": 64, "columns": 64}, dtype, fill=fill)
    reproduce(str(FILE), subject, case)
    lines = capsys.readouterr().out.splitlines()
    assert not any("tritonaudit failed" in line for line in lines)
    seen = (line.removeprefix(f"{case.label}: ").replace(f"{FILE}:", "") for line in lines)
    return [line for line in seen if not line.startswith("not all is known: streams")]


@pytest.mark.parametrize(
    ("subject", "dtype"),
    [
        ("half_e4m3", "float8_e4m3fn"),
        ("half_e5m2", "float8_e5m2"),
        ("once", "float32"),
        ("powers", "float8_e8m0fnu"),
        ("negative", "float8_e4m3fnuz"),
        ("negative", "float8_e5m2fnuz"),
    ],
)
def test_what_is_right_is_let_pass(subject: str, dtype: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tried(capsys, subject, dtype) == ["nothing is seen"]


def test_nan_among_floats_of_8_bits_is_compared(capsys: pytest.CaptureFixture[str]) -> None:
    seen = tried(capsys, "half_e5m2", "float8_e5m2", "inf")
    assert not [line for line in seen if line.startswith(("wrong", "new"))]


@pytest.mark.parametrize(
    ("subject", "dtype", "what"),
    [
        ("but_for_the_last", "float8_e4m3fn", "wrong only at the boundary: 17: output: errors of 3 elements"),
        ("by_torch", "float8_e4m3fn", "no kernel launched: the call launches no kernel"),
        ("twice_by_half", "float32", "wrong result: 48: output: 0.3% of the elements are rounded more than once"),
        ("twice_by_bfloat", "float32", "wrong result: 48: output: 2.9% of the elements are rounded more than once"),
        ("wrong_powers", "float8_e8m0fnu", "wrong result: 79: output: 4096 of 4,096 elements differ"),
        ("wrong_negative", "float8_e4m3fnuz", "wrong result: "),
        ("wrong_negative", "float8_e5m2fnuz", "wrong result: "),
    ],
)
def test_what_is_wrong_is_reported(subject: str, dtype: str, what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(line.startswith(what) for line in tried(capsys, subject, dtype))


def test_an_honest_pair_passes_every_suite(tmp_path: Path) -> None:
    from tritonaudit.suites.stage import RunRequest, Where, run_paths

    (tmp_path / HONEST.name).write_text(HONEST.read_text())
    (run,) = run_paths([tmp_path], Config(tmp_path), RunRequest(200, 1, device=Where.CPU, most_cases=1)).runs
    assert run.verdict is Verdict.PASS


def test_hardships_are_those_that_a_dtype_holds() -> None:
    named = {one.name: one for one in HARDSHIPS}
    assert can_hold("float8_e4m3fn", named["exp overflow"])
    assert not can_hold("float8_e4m3fnuz", named["exp overflow"])
    assert can_hold("float8_e5m2", named["rows wholly masked"])
    assert not can_hold("float8_e4m3fn", named["rows wholly masked"])
