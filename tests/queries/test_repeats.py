"""Loads of what has just been loaded."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.repeats import repeated_loads

START = "lanes = tl.arange(0, BLOCK)\nmask = lanes < n\na = tl.load(x_ptr + lanes, mask=mask)\n"


def repeats(body: str) -> int:
    return len(list(repeated_loads(flow(START + body))))


@pytest.mark.parametrize(
    "body",
    [
        "b = tl.load(x_ptr + lanes, mask=mask)",
        "b = tl.load(lanes + x_ptr, mask=n > lanes)",
        "c = tl.load(y_ptr + lanes, mask=mask)\nb = tl.load(x_ptr + lanes, mask=mask)",
        "if FLAG:\n    b = tl.load(x_ptr + lanes, mask=mask)",
    ],
)
def test_the_same_elements_again(body: str) -> None:
    assert repeats(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        "b = tl.load(x_ptr + lanes)",
        "b = tl.load(x_ptr + lanes, mask=lanes < m)",
        "b = tl.load(x_ptr + lanes, mask=mask, other=1.0)",
        "b = tl.load(x_ptr + lanes + 1, mask=mask)",
        "b = tl.load(y_ptr + lanes, mask=mask)",
        "tl.store(y_ptr + lanes, a, mask=mask)\nb = tl.load(x_ptr + lanes, mask=mask)",
        "tl.debug_barrier()\nb = tl.load(x_ptr + lanes, mask=mask)",
        "for k in range(n):\n    b = tl.load(x_ptr + lanes, mask=mask)",
        "x_ptr += n\nb = tl.load(x_ptr + lanes, mask=mask)",
        "helper(x_ptr)\nb = tl.load(x_ptr + lanes, mask=mask)",
    ],
)
def test_other_elements_or_elements_that_may_have_changed(body: str) -> None:
    assert repeats(body) == 0


def test_what_a_helper_does_in_between() -> None:
    place = "@triton.jit\ndef place(x_ptr, lanes):\n    return x_ptr + lanes"
    put = "@triton.jit\ndef put(x_ptr):\n    tl.store(x_ptr, 1)"
    again = f"{START}address = {{}}\nb = tl.load(x_ptr + lanes, mask=mask)"
    assert len(list(repeated_loads(flow(again.format("place(x_ptr, lanes)"), place)))) == 1
    assert not list(repeated_loads(flow(again.format("put(x_ptr)"), put)))
