"""What passes and is computed from nothing."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from tritonaudit.finding import Status  # noqa: E402
from tritonaudit.suites.garbage import garbage  # noqa: E402
from tritonaudit.suites.tolerance import judge  # noqa: E402


def test_a_reference_of_one_number_rejects_nothing() -> None:
    x = torch.randn(10, 100, generator=torch.Generator().manual_seed(0))
    varied = x.double().softmax(-1), x.softmax(-1), []
    constant = torch.ones(10, dtype=torch.float64), torch.ones(10), []
    found = {name: judge(one, *varied).status for name, one in garbage(varied[0], torch.float32)}
    assert found == dict.fromkeys(("zeros", "the mean", "the elements shuffled"), Status.FAIL)
    found = {name: judge(one, *constant).status for name, one in garbage(constant[0], torch.float32)}
    assert found == {"zeros": Status.FAIL, "the mean": Status.PASS, "the elements shuffled": Status.PASS}


@pytest.mark.parametrize("counts", [[8, 8, 6, 6], [7, 3, 9, 7], [0, 1]])
def test_shuffled_elements_stand_elsewhere_unless_all_are_equal(counts: list[int]) -> None:
    precise = torch.tensor(counts)
    for seed in range(6):
        found = dict(garbage(precise, torch.int64, seed))
        assert not torch.equal(found["the elements shuffled"], precise)
        assert sorted(found["the elements shuffled"].tolist()) == sorted(counts)
