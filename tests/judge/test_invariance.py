"""Edits that mean nothing change no result, and what they change of the findings is seen."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="Triton compiles the kernels")

from bench.judge.executing import become_ready
from bench.judge.invariance.edits import EDITS, edited
from bench.judge.invariance.meaning import Computed, Edition, computed
from bench.judge.invariance.source import Package, Source
from bench.judge.invariance.tables import by_edit, by_rule
from bench.judge.invariance.trying import Reported, Task, Tried, try_file
from tests.checkout import ROOT
from tritonaudit.execute.killed import Killed
from tritonaudit.execute.pool import Limits, run_tasks
from tritonaudit.finding import Confidence, Finding, Severity, Span

KERNELS = '''\
import torch
import triton
import triton.language as tl


@triton.jit
def tile(start, BLOCK: tl.constexpr):
    """Places of a tile."""
    return start + tl.arange(0, BLOCK)


@triton.jit
def add_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tile(tl.program_id(0) * BLOCK, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)  # a row
    twice = x + 2.0
    tl.store(out_ptr + at, twice * x + 1.0, mask=at < n)


def add(x):
    out = torch.empty_like(x)
    grid = (triton.cdiv(x.numel(), 64),)
    add_kernel[grid](x, out, x.numel(), BLOCK=64)
    return out
'''


def text_of(edit: str, text: str = KERNELS) -> str:
    """The text and the new files after an edit."""
    change = edited(Source(Path("/nowhere/add.py"), text, Package({})), edit)
    assert change is not None
    return "\n".join([change.text.text, *(f"# {name}\n{new.text}" for name, new in change.files.items())])


@pytest.mark.parametrize(
    ("edit", "has", "has_not"),
    [
        ("renamed", "x_ptr", "add_kernel"),
        ("temporaries", "part1 = x_ptr + at", "tl.store(out_ptr + at"),
        ("folded", "(x + 2.0) * x", "twice ="),
        ("swapped", "n > at", "at < n"),
        ("helpers", "def helper1(", "tl.load(x_ptr + at"),
        ("inlined", "at = ((tl.program_id(0) * BLOCK) + tl.arange(0, BLOCK))", "at = tile("),
        ("uncommented", "def tile(start", "# a row"),
        ("printed", "%d", ", mask=at < n)\n\n\ndef add(x):\n    out"),
        ("parameter", "def add(x, padding_idx=None):\n    unused = padding_idx\n", "def add(x):"),
        ("unrelated", "unused = 0", ", mask=at < n)\n\n\ndef add(x):\n    out"),
        ("split", "return add_launched(", "grid = (triton.cdiv(x.numel(), 64),)\n    add_kernel"),
        ("moved", "from add_kernels import tile, add_kernel", "twice * x + 1.0, mask=at < n)\n\n\ndef add"),
        ("keywords", "add_kernel[grid](x_ptr=x, out_ptr=out, n=x.numel(), BLOCK=64)", "(x, out"),
        ("reordered", "\n@triton.jit\ndef tile", "triton.language as tl\n\n\n@triton.jit\ndef tile"),
        ("reformatted", "twice = (\n        x + 2.0\n    )", "twice = x"),
    ],
)
def test_an_edit_does_what_its_name_says(edit: str, has: str, has_not: str) -> None:
    text = text_of(edit)
    if edit != "renamed":
        assert has in text
    assert has_not not in text


def test_there_are_more_than_ten_edits() -> None:
    assert len(EDITS) >= 10


def tried(folder: Path, check: object = None, text: str = KERNELS) -> Tried:
    folder /= f"{len(list(folder.iterdir()))}"
    package = folder / "adder-1.0"
    package.mkdir(parents=True)
    (package / "add.py").write_text(text)
    found = try_file(Task(package, "add.py", folder / "copies"), check)  # type: ignore[arg-type]
    assert found.reason == ""
    assert (package / "add.py").read_text() == text, "the package is not touched"
    return found


def lost(found: Tried) -> Mapping[str, Sequence[Reported]]:
    return {one.edit: one.lost for one in found.compared if one.lost}


def planted(path: Path, pattern: str) -> list[Finding]:
    """What a rule that goes by how the text looks finds: the lines with the pattern."""
    return [
        Finding("TAX999", "planted", Severity.ERROR, Confidence.HIGH, "m", str(path), Span(at, 1, at, 2), "add_kernel")
        for at, line in enumerate(path.read_text().split("\n"), 1)
        if re.search(pattern, line)
    ]


@pytest.mark.parametrize(
    ("pattern", "edits"),
    [
        (r"twice \* x", {"renamed", "folded", "swapped"}),
        (r"# a row", {"uncommented"}),
        (r"mask=at <", {"renamed", "swapped", "helpers", "temporaries"}),
    ],
)
def test_a_rule_that_goes_by_names_or_looks_is_seen(tmp_path: Path, pattern: str, edits: set[str]) -> None:
    found = tried(tmp_path, lambda path: planted(path, pattern))
    assert set(lost(found)) == edits
    (row,) = (line for line in by_rule([found]).split("\n") if line.startswith("| TAX999 |"))
    assert f"| {sum(len(one.findings) for one in found.compared)} | " in row


def test_a_finding_that_an_edit_brings_is_seen(tmp_path: Path) -> None:
    found = tried(tmp_path, lambda path: planted(path, r"padding_idx"))
    assert [(one.edit, len(one.new)) for one in found.compared if one.new] == [("parameter", 2)]
    assert re.search(r"\| parameter \| 1 \| 0 \| 0 \| 2 \| - \|", by_edit([found]))


def test_a_finding_that_stays_where_it_was_is_the_same_one(tmp_path: Path) -> None:
    found = tried(tmp_path, lambda path: planted(path, r"tl\.load"))
    assert lost(found) == {}
    assert {one.edit for one in found.compared} == set(EDITS)
    assert not any(one.new for one in found.compared)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    package = tmp_path / "broken-1.0"
    package.mkdir()
    (package / "add.py").write_text("def (:\n")
    assert "Unparsable" in try_file(Task(package, "add.py", tmp_path / "copies")).reason


MINIMAL = (ROOT / "bench/judge/minimal/minimal-1.0/minimal.py").read_text()
SILENCED = MINIMAL[MINIMAL.index("\n\n@triton.jit\ndef shift_kernel") : MINIMAL.index("\n\ndef turn(x)")]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Tried:
    """The unmasked accesses of the rule's page, and kernels on which rules are silent for the names in them."""
    text = (ROOT / "fixtures/rules/TAM101_unmasked_access/bad.py").read_text() + SILENCED
    return tried(tmp_path_factory.mktemp("judged"), text=text)


@pytest.mark.parametrize(
    ("edit", "code", "kernel"),
    [
        ("printed", "TAM101", "scale_kernel"),
        ("parameter", "TAM101", "scale_kernel"),
        ("unrelated", "TAM101", "softmax_kernel"),
        ("renamed", "TAC109", "turn_kernel"),
    ],
)
def test_a_finding_is_reported_whatever_words_stand_around_it(judged: Tried, edit: str, code: str, kernel: str) -> None:
    (one,) = (one for one in judged.compared if one.edit == edit)
    assert (code, kernel) in {(reported.code, reported.kernel) for reported in one.findings}
    assert code not in {reported.code for reported in (*one.lost, *one.new)}


SUBJECTS = sorted(path for path in (ROOT / "bench/mutation/subjects").iterdir() if path.is_dir())


SPEC = """\
from tritonaudit import Subject, Tensor

from .add import add

add_subject = Subject(add, inputs=[Tensor("n")], dtypes=["float32"])
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Edition, Computed]:
    """What the kernel above and those of `bench/mutation` compute as they are, and after each edit."""
    adder = tmp_path_factory.mktemp("subjects") / "adder"
    adder.mkdir()
    (adder / "add.py").write_text(KERNELS)
    (adder / "audit_add.py").write_text(SPEC)
    editions = [Edition(folder, edit) for folder in (*SUBJECTS, adder) for edit in ("", *EDITS)]
    limits = Limits(300, 4 << 30)
    done = dict(run_tasks(computed, editions, workers=1, limits=limits, prepare=become_ready, arguments=(ROOT, ROOT)))
    killed = {edition: one.message for edition, one in done.items() if isinstance(one, Killed)}
    assert killed == {}
    return {edition: one for edition, one in done.items() if isinstance(one, Computed)}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_changes_no_result(results: Mapping[Edition, Computed], edit: str) -> None:
    made = {edition.folder.name: one for edition, one in results.items() if edition.edit == edit}
    plain = {edition.folder.name: one for edition, one in results.items() if not edition.edit}
    assert sum(one.kernels for one in made.values()) > 0
    assert {name: one.results for name, one in made.items()} == {name: one.results for name, one in plain.items()}


def test_the_results_are_results(results: Mapping[Edition, Computed]) -> None:
    shown = [one for edition, some in results.items() if not edition.edit for one in some.results]
    assert len(shown) > len(SUBJECTS)
    assert [one for one in shown if not re.fullmatch(r"\w+: [0-9a-f]{16}", one)] == []
