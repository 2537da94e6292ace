"""Pairs of elements that are combined in place, of which one is not written back."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.half_updates import half_updates

PAIR = """\
lanes = tl.arange(0, BLOCK)
c = tl.load(y_ptr + lanes)
s = tl.load(y_ptr + n + lanes)
first = tl.load(x_ptr + tl.program_id(0) * stride + lanes)
second = tl.load(x_ptr + tl.program_id(0) * stride + {apart} + lanes)
tl.store(x_ptr + tl.program_id(0) * stride + lanes, {stored})
"""
ROTATED = "first * c - second * s"


def loads(body: str) -> list[str]:
    found = flow(body)
    return [found.tree.code(half.load.node) for half in half_updates(found)]


@pytest.mark.parametrize("stored", [ROTATED, "(first * c + second * s).to(x_ptr.dtype.element_ty)"])
@pytest.mark.parametrize("apart", ["BLOCK", "m", "1"])
def test_the_half_that_stays_is_found(stored: str, apart: str) -> None:
    (load,) = loads(PAIR.format(stored=stored, apart=apart))
    assert f"+ {apart} +" in load


@pytest.mark.parametrize(
    "body",
    [
        PAIR.format(stored=ROTATED, apart="stride"),
        PAIR.format(stored=ROTATED, apart="BLOCK")
        + "tl.store(x_ptr + tl.program_id(0) * stride + BLOCK + lanes, second * c + first * s)",
        PAIR.format(stored=ROTATED, apart="BLOCK") + "tl.store(y_ptr + lanes, second * c + first * s)",
        PAIR.format(stored="first + second", apart="BLOCK"),
        PAIR.format(stored="first * c - second", apart="BLOCK"),
        PAIR.format(stored="first * second", apart="BLOCK"),
        PAIR.format(stored=ROTATED, apart="BLOCK").replace("tl.store(x_ptr", "tl.store(y_ptr"),
    ],
)
def test_a_half_that_is_written_elsewhere_or_by_another_program_is_not(body: str) -> None:
    assert loads(body) == []
