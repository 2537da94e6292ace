"""Operations that are known by name, and how wrappers of several signatures are given their arguments."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

from tritonaudit.subject.model import Tensor
from tritonaudit.subject.operations import Fitted, fitted, known_names, known_operation

ROWS = Tensor("rows", "size")


def fit(operation: str, wrapper: Callable[..., Any]) -> Fitted | None:
    known = known_operation(operation)
    assert known is not None
    return fitted(known, inspect.signature(wrapper))


def test_underscores_do_not_matter() -> None:
    assert known_operation("layernorm") is known_operation("layer_norm") is not None
    assert known_operation("frobnicate") is None


@pytest.mark.parametrize(
    ("operation", "wrapper", "expected"),
    [
        ("softmax", lambda input, dim: 0, Fitted((ROWS, -1), {}, {})),
        ("softmax", lambda x: 0, Fitted((ROWS,), {}, {"dim": -1})),
        ("softmax", lambda x, block=3, dim=0: 0, Fitted((ROWS,), {"dim": -1}, {})),
        ("add", lambda x, y, *more, **named: 0, Fitted((ROWS, ROWS), {}, {})),
        ("add", lambda x: 0, None),
        ("softmax", lambda x, temperature: 0, None),
        ("layer_norm", lambda x, weight, bias: 0, None),
        ("layer_norm", lambda x, weight, bias, eps: 0, None),
    ],
)
def test_a_wrapper_is_given_what_it_takes(operation: str, wrapper: Callable[..., Any], expected: Fitted | None) -> None:
    assert fit(operation, wrapper) == expected


def test_a_norm_of_torchs_own_interface() -> None:
    found = fit("layer_norm", lambda input, normalized_shape, weight, bias, eps: 0)
    assert found is not None
    assert len(found.positional) == 5
    assert not found.keywords
    assert not found.absent


@pytest.mark.parametrize("name", known_names())
def test_pytorch_takes_the_arguments_of_each_and_gives_what_is_said(name: str) -> None:
    torch = pytest.importorskip("torch")
    from operator import attrgetter

    from tritonaudit.subject.inputs import make_inputs
    from tritonaudit.subject.model import Case, Subject

    known = known_operation(name)
    assert known is not None
    function = attrgetter(known.function.removeprefix("torch."))(torch)
    subject = Subject(function, inputs=tuple(known.arguments.values()))
    case = Case(dict.fromkeys(subject.dimensions, 5), device="cpu")
    arguments, _ = make_inputs(subject, case)
    out = function(**dict(zip(known.arguments, arguments, strict=True)))
    dims = tuple(filter(None, known.output.strip("()").split(", ")))
    assert out.shape == tuple(case[dim] for dim in dims)
