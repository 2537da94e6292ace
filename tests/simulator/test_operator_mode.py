"""What is seen of operators that branches and loops call."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
if not hasattr(torch.utils._python_dispatch.TorchDispatchMode, "supports_higher_order_operators"):
    pytest.skip("this torch shows no mode what branches and loops call", allow_module_level=True)

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


def test_a_loop_of_no_rounds_gives_copies() -> None:
    start = torch.ones(3)
    with Seeing():
        (given,) = torch.ops.higher_order.while_loop(lambda x: x.sum() < 0, lambda x: (x + 1,), (start,), ())
    assert torch.equal(given, start)
    assert given.data_ptr() != start.data_ptr()


def test_another_operator_of_that_name_is_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._ops import HigherOrderOperator, _higher_order_ops

    monkeypatch.setitem(_higher_order_ops, "cond", torch.ops.higher_order.cond)

    class Cond(HigherOrderOperator):
        def __init__(self) -> None:
            super().__init__("cond")

        def __call__(self, *args: Any) -> Any:
            return super().__call__(*args)

    other = Cond()
    other.fallthrough(torch._C.DispatchKey.AutogradCPU)
    other.py_impl(torch._C.DispatchKey.CompositeExplicitAutograd)(lambda *_: torch.zeros(3))
    with Seeing() as seeing:
        given = other(torch.tensor(True), torch.exp, torch.sin, (torch.ones(3),))
    assert "exp" not in seeing.seen
    assert torch.equal(given, torch.zeros(3))
