"""Loads that every turn of a loop makes again."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.invariant_loads import invariant_loads

START = "lanes = tl.arange(0, BLOCK)\nmask = lanes < n\n"
STORE = "    tl.store(y_ptr + i * n + lanes, 1.0, mask=mask)\n"


def tensors(loop: str, header: str = "for i in range(n):\n") -> list[str]:
    return [found.tensor for found in invariant_loads(flow(START + header + loop))]


@pytest.mark.parametrize(
    "load", ["tl.load(x_ptr)", "tl.load(x_ptr + lanes, mask=mask)", "2 * tl.load(x_ptr + n).to(tl.float32)"]
)
def test_what_no_turn_changes(load: str) -> None:
    assert tensors(f"    x = {load}\n{STORE}") == ["x_ptr"]


@pytest.mark.parametrize(
    "loop",
    [
        "    x = tl.load(x_ptr + i)\n",
        "    x = tl.load(x_ptr + lanes, mask=lanes + i < n)\n",
        "    x = tl.load(x_ptr + n)\n    n += 1\n",
        "    j = i * 2\n    x = tl.load(x_ptr + j)\n",
        "    x = tl.load(x_ptr, volatile=True)\n",
        "    x = tl.load(x_ptr)\n    tl.debug_barrier()\n",
        "    x = tl.load(x_ptr)\n    helper(x_ptr)\n",
        "    x = tl.load(x_ptr)\n    tl.store(x_ptr, i)\n",
        "    x = tl.load(x_ptr)\n    tl.store(tl.load(y_ptr).to(tl.pointer_type(tl.float32)), i)\n",
        "    if i > 3:\n        x = tl.load(x_ptr)\n",
        "    x = tl.load(x_ptr) if i > 3 else 0.0\n",
    ],
)
def test_what_may_change_or_is_not_always_read(loop: str) -> None:
    assert "x_ptr" not in tensors(loop + STORE)


def test_a_loop_without_stores_has_none_beside_it() -> None:
    (found,) = invariant_loads(flow(START + "for i in range(n):\n    x = tl.load(x_ptr)\n"))
    assert not found.stores


def test_a_loop_that_waits() -> None:
    assert not tensors(f"    x = tl.load(x_ptr)\n{STORE}    i += 1\n", header="i = 0\nwhile i < n:\n")


def test_the_inner_loop_is_the_one_that_reads_again() -> None:
    body = "    for j in range(n):\n        x = tl.load(x_ptr + i)\n        tl.store(y_ptr + i * n + j, x)\n"
    (found,) = invariant_loads(flow(START + "for i in range(n):\n" + body))
    assert getattr(found.loop.target, "id", "") == "j"


HELPER = "@triton.jit\ndef place(x_ptr, lanes):\n    return x_ptr + lanes"


@pytest.mark.parametrize(
    ("address", "before"),
    [
        ("x_ptr + lanes", ""),
        ("place(x_ptr, lanes)", HELPER),
        ("x_ptr + (lanes + i - i)", ""),
    ],
)
def test_an_address_is_the_same_however_it_is_computed(address: str, before: str) -> None:
    body = f"{START}for i in range(n):\n    address = {address}\n    x = tl.load(address, mask=mask)\n{STORE}"
    found = [one.tensor for one in invariant_loads(flow(body, before))]
    assert found == (["x_ptr"] if "- i" not in address else [])


def test_a_helper_that_stores_may_change_it() -> None:
    helper = "@triton.jit\ndef put(x_ptr):\n    tl.store(x_ptr, 1)"
    body = f"{START}for i in range(n):\n    x = tl.load(x_ptr)\n    put(x_ptr)\n{STORE}"
    assert not list(invariant_loads(flow(body, helper)))
