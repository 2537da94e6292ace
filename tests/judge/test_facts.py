"""What the source brain states is held against launches, and what is false is found."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="Triton compiles the kernels")

import torch

from bench.judge.executing import become_ready
from bench.judge.facts import main
from bench.judge.facts.comparing import compared
from bench.judge.facts.seen import Seen, Watched
from bench.judge.facts.stated import Stated, stated_of
from bench.judge.facts.trying import Held, Task, hold
from bench.judge.noted import Noted
from tests.checkout import ROOT
from tritonaudit.capture.launch import KernelRef, Launch
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks

KERNEL = """\
import torch
import triton
import triton.language as tl


@triton.jit
def shift_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    start = tl.program_id(0) * BLOCK
    at = start + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    half = x.to(tl.float16)
    ratio = half / half
    last = 0
    now = 1
    held = 0
    for step in range(3):
        held = last + 0 * n
        last = now
        now = step + 5
    tl.store(out_ptr + at, x + ratio + held, mask=at < n)


def shift(x):
    out = torch.empty_like(x)
    shift_kernel[(triton.cdiv(x.numel(), 64),)](x, out, x.numel(), BLOCK=64)
    return out
"""
SPEC = """\
from shift import shift

from tritonaudit import Subject, Tensor

shift_subject = Subject(shift, inputs=[Tensor("n")], dtypes=["float32"])
"""


def held(folder: Path) -> Held:
    (folder / "shift.py").write_text(KERNEL)
    (folder / "audit_shift.py").write_text(SPEC)
    task = Task(folder / "audit_shift.py", "shift", (Noted((("n", 97),), "float32", "contiguous"),), folder)
    ((_, found),) = run_tasks(
        hold, [task], workers=1, limits=Limits(120, 4 << 30), prepare=become_ready, arguments=(folder, ROOT)
    )
    assert not isinstance(found, Killed), found.message
    assert found.reason == ""
    return found


def test_a_launch_contradicts_nothing_of_a_quotient_of_halves_and_of_what_moves_up_in_a_loop(tmp_path: Path) -> None:
    (launch,) = held(tmp_path).launches
    assert dict(launch.checked)["number"] >= 2
    assert dict(launch.checked)["dtype"] >= 6
    assert launch.contradictions == ()


WATCHED = Watched(
    Launch(KernelRef("k.py", "k", 1), "sm_90", "", "", (2, 1, 1), (), (), ()),
    {"n": 7, "BLOCK": 4},
    [
        Seen(
            "at",
            3,
            "i32",
            (4,),
            torch.arange(8, dtype=torch.int32).reshape(2, 4),
            (torch.arange(2), torch.zeros(2).long(), torch.zeros(2).long()),
        )
    ],
)


def stated() -> Stated:
    """`at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)`, as the brain states it."""
    text = "import triton\nimport triton.language as tl\n@triton.jit\ndef k(x_ptr, n, BLOCK: tl.constexpr):\n"
    text += "    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n    tl.store(x_ptr + at, at, mask=at < n)\n"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.py")
        path.write_text(text)
        (one,) = stated_of(Path(folder), str(path), "k", 4)
    return Stated("at", 3, 3, one.dtype, one.shape, one.number, one.lower, one.upper)


def test_what_is_true_is_not_contradicted() -> None:
    found = compared([stated()], WATCHED)
    assert dict(found.checked) == {"dtype": 1, "number": 1, "rank": 1, "shape": 1}
    assert found.contradictions == ()


@pytest.mark.parametrize(
    ("planted", "fact", "seen"),
    [
        ({"dtype": "fp32"}, "dtype", "i32"),
        ({"shape": ()}, "rank", "[4]"),
        ({"lower": 1.0}, "lower bound", "0"),
        ({"upper": 6.0}, "upper bound", "7"),
    ],
)
def test_a_planted_wrong_fact_is_found(planted: dict[str, object], fact: str, seen: str) -> None:
    true = stated()
    wrong = Stated(**{**{name: getattr(true, name) for name in true.__dataclass_fields__}, **planted})  # type: ignore[arg-type]
    (reported,) = compared([wrong], WATCHED).contradictions
    assert (reported.variable, reported.fact, reported.seen) == ("at", fact, seen)


def test_a_planted_wrong_number_is_found() -> None:
    true = stated()
    assert true.number is not None
    wrong = Stated("at", 3, 3, true.dtype, true.shape, true.number + true.number, None, None)
    (reported,) = compared([wrong], WATCHED).contradictions
    assert (reported.fact, reported.seen) == ("number", "1, where it is 2, at (0, 1)")


def test_what_is_stated_of_kernels_in_a_folder_is_held_against_launches(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["--corpus", str(ROOT / "bench/judge/minimal"), "--work", str(tmp_path)])
    (package,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("| minimal-1.0 "))
    kernels, launches, facts, contradicted = (int(cell) for cell in package.strip("| ").split(" | ")[1:])
    assert (kernels, contradicted) == (3, 0)
    assert launches > 0
    assert facts > 100
