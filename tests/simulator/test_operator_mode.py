"""What is seen of operators that branches and loops call."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")

from tritonaudit.simulator.operator_mode import OperatorMode  # noqa: E402


class Seeing(OperatorMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        self.seen.append(function._schema.name.removeprefix("aten::"))
        return function(*args, **kwargs)


@pytest.mark.parametrize(("chosen", "name"), [(True, "exp"), (False, "sin")])
def test_the_branch_that_is_taken_is_seen(chosen: bool, name: str) -> None:
    x = torch.ones(3)
    with Seeing() as outer, Seeing() as inner:
        given = torch.ops.higher_order.cond(torch.tensor(chosen), torch.exp, torch.sin, (x,))
    assert torch.equal(given, getattr(torch, name)(x))
    assert name in outer.seen
    assert inner.seen == outer.seen


def test_each_round_of_a_loop_is_seen() -> None:
    start = torch.zeros((), dtype=torch.int64)
    with Seeing() as seeing:
        (given,) = torch.ops.higher_order.while_loop(lambda i: i < 3, lambda i: (i + 1,), (start,), ())
    assert int(given) == 3
    assert seeing.seen.count("add") == 3
