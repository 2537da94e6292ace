"""Which of the parameters in an address is the pointer."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow

LOOP = "lanes = tl.arange(0, BLOCK)\nfor i in range(n):\n    tl.store({}, 1.0, mask=lanes < m)\n"


@pytest.mark.parametrize(
    "address",
    [
        "y_ptr + i * stride + n + lanes",
        "n + (i * stride + y_ptr) + lanes",
        "lanes + (n + (stride * i + y_ptr))",
        "m + (lanes + y_ptr)",
        "stride + (lanes + y_ptr)",
    ],
)
def test_the_pointer_is_what_is_no_number_wherever_it_stands(address: str) -> None:
    (access,) = flow(LOOP.format(address) + "    n + stride * m\n").accesses
    assert access.pointer.origin is not None
    assert access.pointer.origin.name == "y_ptr"
