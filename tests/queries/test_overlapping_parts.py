"""Parts of a buffer that lie one sequence's length apart."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.overlapping_parts import overlapping_parts

SEQUENCE = """\
part, seq = tl.program_id(0), tl.program_id(1)
total = n
if FLAG:
    begin, end = tl.load(y_ptr + seq).to(tl.int64), tl.load(y_ptr + seq + 1).to(tl.int64)
    n = end - begin
else:
    begin = seq * n
lanes = tl.arange(0, BLOCK)
"""


def overlaps(body: str) -> list[tuple[str, str, str]]:
    """The products, each with the buffer and the name that holds the length."""
    found = flow(SEQUENCE + body)
    return [(found.tree.code(o.made.node), o.parameter, o.length) for o in overlapping_parts(found)]


@pytest.mark.parametrize(
    ("store", "product"),
    [
        ("tl.store(x_ptr + part * n + begin + lanes, 1.0)", "part * n"),
        ("tl.store(x_ptr + part * n * m + (begin + lanes) * m, 1.0)", "part * n * m"),
        ("tl.store(x_ptr + part * m * n * stride + (begin + lanes) * m, 1.0)", "part * m * n * stride"),
        ("tl.atomic_add(x_ptr + (part // 2) * n + begin + lanes, 1.0)", "(part // 2) * n"),
        ("tl.store(x_ptr + part * tl.cdiv(n, BLOCK) + begin + lanes, 1.0)", "part * tl.cdiv(n, BLOCK)"),
        ("if m:\n    x_ptr += part * n\ntl.store(x_ptr + begin + lanes, 1.0)", "part * n"),
        (
            "p = tl.make_block_ptr(x_ptr + part * n + begin, (n,), (1,), (0,), (BLOCK,), (0,))\ntl.store(p, 1.0)",
            "part * n",
        ),
    ],
)
def test_a_part_that_is_as_long_as_one_sequence_is_found_where_it_is_computed(store: str, product: str) -> None:
    assert overlaps(store) == [(product, "x_ptr", "n")]


@pytest.mark.parametrize(
    "store",
    [
        "tl.store(x_ptr + part * total + begin + lanes, 1.0)",
        "tl.store(x_ptr + part * n + begin * m + lanes, 1.0)",
        "tl.store(x_ptr + part * n + lanes, 1.0)",
        "tl.store(x_ptr + m * n + begin + lanes, 1.0)",
        "tl.store(x_ptr + part * n * n + begin * n + lanes, 1.0)",
        "tl.load(x_ptr + part * n + begin + lanes)",
    ],
)
def test_parts_of_one_sequence_or_of_the_whole_length_do_not_overlap(store: str) -> None:
    assert overlaps(store) == []
