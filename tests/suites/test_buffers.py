"""What a call leaves in a model's buffers is part of what it does: running statistics of a normalisation, say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import pytest

torch = pytest.importorskip("torch", reason="torch builds the models")
pytest.importorskip("triton", reason="the wrapper launches a kernel")

from tritonaudit.execute.pool import Limits, run_tasks  # noqa: E402
from tritonaudit.subject.kernelbench import Built  # noqa: E402
from tritonaudit.subject.model import Case, Subject  # noqa: E402
from tritonaudit.suites.buffers import Effects, compare_buffers  # noqa: E402
from tritonaudit.suites.facts import Symptom  # noqa: E402
from tritonaudit.suites.outcome import CaseOutcome  # noqa: E402
from tritonaudit.suites.worker import TryTask, become_device, try_case  # noqa: E402

PAIR = """\
import torch
import triton
import triton.language as tl

class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(features)

    def forward(self, x):
        return self.norm(x)

@triton.jit
def norm_kernel(x_ptr, mean_ptr, var_ptr, out_ptr, rows, features, BLOCK: tl.constexpr):
    c = tl.program_id(0)
    r = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + r * features + c, mask=r < rows, other=0.0)
    mean = tl.sum(x, axis=0) / rows
    gap = tl.where(r < rows, x - mean, 0.0)
    squares = tl.sum(gap * gap, axis=0)
    tl.store(mean_ptr + c, tl.load(mean_ptr + c) * 0.9 + mean * 0.1)
    tl.store(var_ptr + c, tl.load(var_ptr + c) * 0.9 + squares / (rows - 1) * 0.1)
    tl.store(out_ptr + r * features + c, gap / tl.sqrt(squares / rows + 1e-5), mask=r < rows)

class ModelNew(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(features)

    def forward(self, x):
        rows, features = x.shape
        out = torch.empty_like(x)
        norm = self.norm
        norm.num_batches_tracked += 1
        norm_kernel[(features,)](
            x, norm.running_mean, norm.running_var, out, rows, features, BLOCK=triton.next_power_of_2(rows)
        )
        return out

def get_inputs():
    return [torch.randn(24, 5) * 3 + 1]

def get_init_inputs():
    return [5]
"""
UPDATES = [
    "    tl.store(mean_ptr + c, tl.load(mean_ptr + c) * 0.9 + mean * 0.1)\n",
    "    tl.store(var_ptr + c, tl.load(var_ptr + c) * 0.9 + squares / (rows - 1) * 0.1)\n",
    "        norm.num_batches_tracked += 1\n",
]
OTHER_NAMES = {
    "        self.norm = torch.nn.BatchNorm1d(features)\n\n    def forward(self, x):\n        rows": """\
        self.register_buffer("seen", torch.tensor(0))
        self.register_buffer("spread", torch.ones(features))
        self.register_buffer("level", torch.zeros(features))

    def forward(self, x):
        rows""",
    "        norm = self.norm\n        norm.num_batches_tracked += 1\n": "        self.seen += 1\n",
    "norm.running_mean, norm.running_var": "self.level, self.spread",
}
BIASED = {"squares / (rows - 1) * 0.1": "squares / rows * 0.1"}
KEPT_NOWHERE = {
    **OTHER_NAMES,
    "        norm = self.norm\n        norm.num_batches_tracked += 1\n": "",
    "norm.running_mean, norm.running_var": "self.level.clone(), self.spread.clone()",
}
PAIRS: dict[str, dict[str, str]] = {
    "same_names": {},
    "other_names": OTHER_NAMES,
    "frozen": dict.fromkeys(UPDATES, ""),
    "biased": BIASED,
    "biased_by_other_names": {**OTHER_NAMES, **BIASED},
    "kept_nowhere": KEPT_NOWHERE,
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, CaseOutcome]:
    """What integrity came to in each pair, by name."""
    folder = tmp_path_factory.mktemp("pairs")
    tasks = [TryTask(folder / f"{name}.py", name, Case({}, "float32")) for name in PAIRS]
    for task in tasks:
        task.path.write_text(changed(PAIRS[task.subject]), encoding="utf-8")
    limits = Limits(seconds=120, memory=8 << 30)
    found = run_tasks(try_case, tasks, workers=1, limits=limits, prepare=become_device, arguments=(False,))
    return {task.subject: cast(Sequence[CaseOutcome], tried)[0] for task, tried in found}


def changed(changes: Mapping[str, str]) -> str:
    text = PAIR
    for old, new in changes.items():
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def seen(outcome: CaseOutcome) -> dict[Symptom, list[str]]:
    found: dict[Symptom, list[str]] = {}
    for one in outcome.sightings:
        found.setdefault(one.symptom, []).append(one.text)
    return found


@pytest.mark.parametrize("name", ["same_names", "other_names"])
def test_statistics_that_are_kept_are_right(outcomes: Mapping[str, CaseOutcome], name: str) -> None:
    assert seen(outcomes[name]) == {}
    assert Symptom.WRONG_RESULT in outcomes[name].checked


def test_statistics_that_stay_as_they_were_are_a_wrong_result(outcomes: Mapping[str, CaseOutcome]) -> None:
    found = seen(outcomes["frozen"])
    named = [text.partition(" after the call: ")[0] for text in found.pop(Symptom.WRONG_RESULT)]
    assert named == ["`norm.running_mean`", "`norm.running_var`", "`norm.num_batches_tracked`"]
    assert found == {}


@pytest.mark.parametrize("name", ["biased", "biased_by_other_names"])
def test_the_biased_variance_in_place_of_the_unbiased_is_a_wrong_result(
    outcomes: Mapping[str, CaseOutcome], name: str
) -> None:
    (text,) = seen(outcomes[name])[Symptom.WRONG_RESULT]
    assert text.startswith("`norm.running_var` after the call: ")


def test_where_nothing_holds_them_it_is_open_whether_they_are_kept(outcomes: Mapping[str, CaseOutcome]) -> None:
    (text,) = seen(outcomes["kept_nowhere"])[Symptom.WEAK_REFERENCE]
    assert "`norm.running_mean`, `norm.running_var`, `norm.num_batches_tracked`" in text
    assert Symptom.WRONG_RESULT not in outcomes["kept_nowhere"].checked


class Unchanging(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(3).eval()

    def forward(self, x: Any) -> Any:
        return self.norm(x)


class NeverBuilt(torch.nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        raise AssertionError("the wrapper's model is built")


def test_the_wrapper_is_not_called_for_buffers_that_do_not_change() -> None:
    subject = Subject(Built(NeverBuilt, list), reference=Built(Unchanging, list), inputs=lambda _: ())
    given: Any = ((torch.randn(4, 3),), {})
    assert compare_buffers(cast(Any, None), subject, Case({}, "float32"), given) == Effects()


class Accumulating(torch.nn.Module):  # type: ignore[misc]
    """Has another mean to begin with once it was called; drops some of what it is given in its constructor's wake."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))
        self.weight = torch.nn.Parameter(torch.randn(3))

    def forward(self, x: Any) -> Any:
        self.total += x.sum(0)
        return torch.rand(3) * self.total


def test_each_look_at_buffers_is_at_those_of_a_new_model() -> None:
    built, x = Built(Accumulating, list), torch.ones(2, 3)
    case = Case({}, "float32")
    built(x)
    for _ in range(2):
        assert built.buffers_after((x,), case)["total"].tolist() == [2.0, 2.0, 2.0]


def test_what_a_first_call_draws_is_what_later_ones_draw() -> None:
    built, x = Built(Accumulating, list), torch.ones(2, 3)
    torch.manual_seed(5)
    first = built(x)
    torch.manual_seed(5)
    assert torch.equal(built(x), 2 * first)
