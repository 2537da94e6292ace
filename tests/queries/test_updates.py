"""Memory that a second run of the kernel finds changed."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.updates import updates

INDEX = """\
offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
mask = offsets < n
"""


def found(body: str) -> list[tuple[str, bool]]:
    """The parameters that are updated, and whether they are added to."""
    return [(update.parameter, update.adds) for update in updates(flow(INDEX + body))]


@pytest.mark.parametrize(
    "body",
    [
        "tl.store(x_ptr + offsets, tl.load(x_ptr + offsets, mask=mask) * 2, mask=mask)",
        "x = tl.load(x_ptr + offsets + 1, mask=mask)\ntl.store(x_ptr + offsets, x, mask=mask)",
        "x = tl.load(x_ptr + offsets, mask=mask)\n"
        "x = tl.where(offsets > 3, x * 2, x)\ntl.store(x_ptr + offsets, x, mask=mask)",
        "if FLAG:\n    x = tl.load(x_ptr + offsets, mask=mask)\n    tl.store(x_ptr + offsets, x + 1, mask=mask)",
        "for i in range(n):\n    t = tl.load(x_ptr + i)\nfor i in range(n):\n    tl.store(x_ptr + i, t + i)",
    ],
)
def test_what_is_read_and_then_overwritten_is_updated(body: str) -> None:
    assert found(body) == [("x_ptr", False)]


def test_blocks_by_pointer_meet_where_their_offsets_are_near() -> None:
    block = "tl.make_block_ptr(x_ptr, (n, m), (m, 1), (tl.program_id(0) * BLOCK, {}), (BLOCK, BLOCK), (1, 0))"
    body = "x = tl.load({}, boundary_check=(0, 1))\ntl.store({}, x, boundary_check=(0, 1))"
    assert found(body.format(block.format(1), block.format(0))) == [("x_ptr", False)]
    assert found(body.format(block.format("m"), block.format(0))) == []


@pytest.mark.parametrize("operation", ["add", "xor"])
def test_atomic_additions_are_updates(operation: str) -> None:
    assert found(f"tl.atomic_{operation}(y_ptr, 1)") == [("y_ptr", True)]


@pytest.mark.parametrize("operation", ["max", "min", "and", "or"])
def test_atomic_operations_that_may_be_repeated_are_none(operation: str) -> None:
    assert found(f"tl.atomic_{operation}(y_ptr, 1)") == []


@pytest.mark.parametrize(
    "body",
    [
        "tl.store(y_ptr + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)",
        "tl.store(x_ptr + m + offsets, tl.load(x_ptr + offsets, mask=mask), mask=mask)",
        "tl.store(x_ptr + offsets, 0.0, mask=mask)\n"
        "x = tl.load(x_ptr + offsets, mask=mask)\ntl.store(x_ptr + offsets, x + 1, mask=mask)",
        "if FLAG:\n    tl.store(y_ptr, tl.load(x_ptr + n))\nelse:\n    tl.store(x_ptr + n, 1.0)",
        "x = tl.load(x_ptr + offsets, mask=mask)\nx = tl.where(x > 0, x, 0.0)\ntl.store(x_ptr + offsets, x, mask=mask)",
        "tl.atomic_add(y_ptr, 1)\ntl.store(y_ptr, 0)",
    ],
)
def test_other_places_and_what_the_kernel_sets_itself_are_no_updates(body: str) -> None:
    assert found(body) == []
