"""The bench of faults: what running a file tells, and what is made of it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from bench.faults import tables
from bench.faults.judged import Reported, Verdict, reported, verdicts
from bench.faults.run import Flag, Ran, become_cpu, run_file
from tritonaudit.execute.killed import End, Killed
from tritonaudit.execute.pool import Limits, run_tasks

HEAD = """\
import torch
import triton
import triton.language as tl

@triton.jit
def copy(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(out_ptr + offsets, x, mask=offsets < n)

@triton.jit
def wrong(x_ptr, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, tl.load(x_ptr + offsets).there_is_no_such_thing)

"""


def ran(folder: Path, *bodies: str) -> list[Ran]:
    files = [folder / f"file{number}.py" for number in range(len(bodies))]
    for file, body in zip(files, bodies, strict=True):
        file.write_text(HEAD + body)
    limits = Limits(seconds=120, memory=4 << 30)
    outcomes = dict(run_tasks(run_file, files, workers=1, limits=limits, prepare=become_cpu))
    assert all(isinstance(one, Ran) for one in outcomes.values()), outcomes
    return [outcomes[file] for file in files]


def test_files_run_on_tensors_of_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    fine, outside, unwritten, fails, rejected = ran(
        tmp_path,
        "x = torch.ones(64, device='cuda')\nout = torch.empty_like(x)\ncopy[(1,)](x, out, 64, BLOCK=64)\n"
        "assert out.is_cuda and out.cpu().sum() == 64\n",
        "x = torch.ones(60).cuda()\ncopy[(1,)](x, torch.empty_like(x), 60, BLOCK=64)\n",
        "x = torch.empty(64, device='cuda')\ncopy[(1,)](x, torch.empty_like(x), 64, BLOCK=64)\n",
        "x = torch.ones(60).cuda()\ncopy[(1,)](x, torch.empty_like(x), 60, BLOCK=64)\nraise ValueError('no more')\n",
        "x = torch.ones(64).cuda()\nwrong[(1,)](x, BLOCK=64)\n",
    )
    assert (fine.flags, fine.error, fine.launches) == ((), "", 1)
    assert [(flag.kind, flag.line, flag.kernel, flag.tensor) for flag in outside.flags] == [
        ("out-of-bounds load", 8, "copy", "x_ptr")
    ]
    assert [(flag.kind, flag.line, flag.tensor) for flag in unwritten.flags] == [
        ("undefined value stored", 9, "out_ptr")
    ]
    assert fails.flags
    assert fails.error == "ValueError: no more (file3.py:18)"
    assert [(flag.kind, flag.line) for flag in rejected.flags] == [("does not compile", 14)]
    assert rejected.error.startswith("does not compile: ")


def test_products_of_float16_are_those_of_a_gpu(tmp_path: Path) -> None:
    fine, mixed = ran(
        tmp_path,
        "a = torch.randn(40, 300).half().cuda().requires_grad_()\nb = torch.randn(300, 20).half().cuda()\n"
        "product = a @ b\nassert torch.equal(product, (a.float() @ b.float()).half())\n"
        "out = torch.empty_like(product)\nassert torch.mm(a.detach(), b, out=out) is out\n"
        "assert torch.equal(out, product)\n"
        "assert torch.equal(torch.einsum('ij,jk->ik', a, b), product)\n"
        "product.sum().backward()\nassert a.grad.dtype == torch.float16 and a.grad.abs().sum() > 0\n",
        "torch.ones(4, 4).half().cuda() @ torch.ones(4, 4).cuda()\n",
    )
    assert fine.error == ""
    assert mixed.error.startswith("RuntimeError: expected m1 and m2 to have the same dtype")


def flag(line: int, kind: str = "out-of-bounds load") -> Flag:
    return Flag(kind, "a.py", line, "kernel", "x_ptr", "program (0, 0, 0)")


OUTCOMES: tables.Outcomes = {
    "a": Ran(Path("a.py"), 1.0, 1, (flag(7), flag(8), flag(8, "race between two writes"))),
    "b": Ran(Path("b.py"), 1.0, 1, (flag(3),)),
    "c": Ran(Path("c.py"), 1.0, 1, (), "ValueError: no"),
    "d": Killed(End.TIMEOUT, "took longer than 60 s", ""),
    "e": Ran(Path("e.py"), 1.0, 1, ()),
}
VERDICTS = [
    Verdict("fixed", "a", 7, "out-of-bounds load", True, "it is"),
    Verdict("fixed", "a", 8, "out-of-bounds load", False, "it is not"),
    Verdict("original", "a", 8, "race between two writes", True, "elsewhere"),
]


def test_flags_get_the_verdict_on_that_line_and_kind_in_that_edition() -> None:
    table, counts = tables.others("fixed", [], VERDICTS, OUTCOMES)
    rows = [line.split(" | ")[-2:] for line in table.splitlines()[2:]]
    assert rows == [
        ["true", "it is |"],
        ["false", "it is not |"],
        ["unjudged", "program (0, 0, 0) |"],
        ["unjudged", "program (0, 0, 0) |"],
    ]
    assert counts == "2 of 5 others flagged; their flags: 1 true, 1 false, 2 unjudged"


def test_what_was_reported_counts_apart() -> None:
    known = [Reported(file, 3, "out-of-bounds load", "why") for file in ("a", "b", "e", "z")]
    assert tables.others("fixed", known, VERDICTS, OUTCOMES)[1].startswith("0 of 2 others flagged")
    assert tables.flagged(known, OUTCOMES) == 2
    found = [line.split(" | ")[3:5] for line in tables.named(known, OUTCOMES, {}).splitlines()[2:]]
    assert found == [["3 flags, the first at line 7", "not run"], ["found, 1 flags", "not run"], ["no flag", "not run"]]


def test_what_does_not_run_through_is_reported_with_its_reason() -> None:
    assert tables.ran_through(OUTCOMES) == 3
    assert tables.missing(OUTCOMES) == "* c: ValueError: no\n* d: took longer than 60 s\n"


def test_what_is_committed_is_whole() -> None:
    judged = verdicts()
    assert len({(one.edition, one.file, one.line, one.kind) for one in judged}) == len(judged)
    assert all(one.edition in ("fixed", "original") and one.line and one.why for one in judged)
    assert len({one.file for one in reported()}) == len(reported()) == 24
    assert all(one.line and one.kind and one.why for one in reported())
    assert not {one.file for one in judged} & {one.file for one in reported()}
