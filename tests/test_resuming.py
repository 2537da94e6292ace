"""Texts that are edits of each other, checked one after the other: each comes to what a check of it alone does."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.config import Config, project_config
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.engine import check_text, text_checker
from tritonaudit.finding import Audit

TEXT = """\
import torch
import triton
import triton.language as tl


@triton.jit
def half(x):
    return x // 2


@triton.jit
def first_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, half(x))


@triton.jit
def second_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(out_ptr + at, x)


def both(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    n = x.numel()
    grid = (triton.cdiv(n, 1024),)
    first_kernel[grid](x, out, n, BLOCK=1024)
    second_kernel[grid](x, out, n, BLOCK=1000)
    return out
"""


class Ended(BaseException):
    """A check that was given up."""


@dataclass
class Steps:
    """Follows checks: how many rules and kernels were looked at, and where one is to end."""

    taken: int = 0
    last: int | None = None
    met_kernels: list[str] = field(default_factory=list)

    def step(self) -> None:
        self.taken += 1
        if self.last is not None and self.taken > self.last:
            raise Ended

    def met(self, kernel: KernelFlow) -> None:
        self.met_kernels.append(kernel.name)


@dataclass
class Typist:
    """Checks one text after the other under one name, each beside a check of it alone."""

    path: Path
    config: Config
    steps: Steps = field(default_factory=Steps)

    def __post_init__(self) -> None:
        self._check = text_checker(self.config, watch=self.steps)

    def run(self, text: str) -> Audit:
        return self._check(text.encode(), self.path)

    def check(self, text: str) -> Audit:
        """What is found, having compared it."""
        self.steps.taken, self.steps.met_kernels = 0, []
        found = self.run(text)
        alone = check_text(text.encode(), self.path, self.config)
        assert found == alone
        return found


@pytest.fixture
def typist(tmp_path: Path) -> Typist:
    typist = Typist(tmp_path / "kernels.py", project_config(tmp_path))
    assert {"TAM101", "TAC102"} <= {one.code for one in typist.check(TEXT).findings}
    return typist


def test_an_edit_of_one_kernel_leaves_the_others(typist: Typist) -> None:
    everything = typist.steps.taken
    typist.check(TEXT.replace("out_ptr + at, x)", "out_ptr + at, 2 * x)"))
    assert typist.steps.taken < everything / 2
    assert len(typist.steps.met_kernels) == 3


def test_what_is_known_of_a_kernel_moves_with_it(typist: Typist) -> None:
    typist.check(TEXT.replace("    x = tl.load", "    more = at\n    less = more\n    x = tl.load", 1))
    assert typist.steps.met_kernels == ["half", "first_kernel", "second_kernel"]
    typist.check(TEXT)


def test_a_helper_takes_those_that_call_it_along(typist: Typist) -> None:
    everything = typist.steps.taken
    typist.check(TEXT.replace("return x // 2", "return x / 2"))
    assert everything / 2 < typist.steps.taken < everything


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def second_kernel(x_ptr,", "def second_kernel(x_ptr, more,"),
        ("BLOCK=1000", "BLOCK=512"),
        ("    n = x.numel()\n", "    n = x.numel()\n    assert n % 1024 == 0\n"),
        ("import torch\n", "import torch\nimport math\n"),
        ("@triton.jit\ndef half", "def half"),
        ("    tl.store(out_ptr + at, x)\n", "    tl.store(out_ptr + at, x)\n\n\n@triton.jit\ndef third():\n    pass\n"),
        ("at, x)\n", 'at, x)\n    """\n'),
    ],
)
def test_any_other_edit_is_of_the_whole_file(typist: Typist, old: str, new: str) -> None:
    everything = typist.steps.taken
    typist.check(TEXT.replace(old, new))
    assert typist.steps.taken == 0 or typist.steps.taken > everything / 2
    typist.check(TEXT)


def test_a_check_that_was_given_up_costs_the_next_ones_nothing(typist: Typist) -> None:
    edited = TEXT.replace("at, half(x))", "at, half(x) + 1)").replace("at, x)", "at, x + 1)")
    for last in (0, 5, 40):
        typist.steps.taken, typist.steps.last = 0, last
        with pytest.raises(Ended):
            typist.run(edited)
        typist.steps.last = None
        typist.check(edited.replace("half(x) + 1", "half(x) - 1"))


def test_another_file_between_two_edits_changes_nothing(typist: Typist) -> None:
    path, typist.path = typist.path, typist.path.with_name("others.py")
    typist.check(TEXT.replace("half", "third"))
    typist.path = path
    typist.check(TEXT.replace("at, x)", "at, x * 2)"))


def test_random_edits(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_bytes((ROOT / "fixtures" / "rules" / "TAM101_unmasked_access" / "bad.py").read_bytes())
    typist, rng = Typist(path, project_config(tmp_path)), random.Random(1)
    lines = path.read_text().split("\n")
    typist.check("\n".join(lines))
    for _ in range(4):
        row = rng.randrange(len(lines))
        column = rng.randint(0, len(lines[row]))
        edited = [*lines[:row], lines[row][:column] + rng.choice("0123xn*+ ") + lines[row][column:], *lines[row + 1 :]]
        typist.check("\n".join(edited))


@pytest.mark.parametrize("line", ["global half", "x = x.second_kernel(0)"])
def test_what_a_kernel_declares_or_calls_concerns_the_others(typist: Typist, line: str) -> None:
    at = "    tl.store(out_ptr + at, half(x))\n"
    typist.check(TEXT.replace(at, f"    {line}\n{at}"))
    typist.check(TEXT)
