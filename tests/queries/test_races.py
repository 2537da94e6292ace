"""Stores of several programs to one place, and accesses that come before all threads have stored."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow, flows
from tritonaudit.queries.races import early_loads, early_releases, overwrites

LAUNCH = """
def run(x, y, n, m):
    M, N = x.shape
    kernel[(M, triton.cdiv(N, 64))](x, y, n, m, N, BLOCK=64, FLAG=m)
"""
START = """\
row = tl.program_id(0)
cols = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
mask = cols < n
x = tl.load(x_ptr + row * stride + cols, mask=mask, other=0.0)
"""


def overwritten(body: str, before: str = "") -> list[tuple[int, bool]]:
    """The axes along which a store of the kernel overwrites others, and whether it updates."""
    return [(found.axis, found.updates) for found in overwrites(flow(START + body, before, LAUNCH))]


@pytest.mark.parametrize(
    ("body", "axis"),
    [
        ("tl.store(y_ptr + row, tl.sum(x, axis=0))", 1),
        ("tl.store(y_ptr + cols, x, mask=mask)", 0),
        ("total = tl.sum(x, axis=0)\nif FLAG:\n    tl.store(y_ptr + row, total)", 1),
        ("p = y_ptr + row\nfor k in range(m):\n    tl.store(p, tl.sum(x, axis=0) + k)\n    p += 1", 1),
    ],
)
def test_what_each_program_stores_to_one_place(body: str, axis: int) -> None:
    assert overwritten(body) == [(axis, False)]


def test_a_first_program_that_stores_what_the_others_add_to() -> None:
    add, store = (f"tl.{name}(y_ptr + row, tl.sum(x, axis=0))" for name in ("atomic_add", "store"))
    body = f"if n > 0:\n    {add}\nelse:\n    {store}"
    assert overwritten(body) == [(1, False)]


def test_an_update_of_what_others_update() -> None:
    body = "tl.store(y_ptr + row, tl.load(y_ptr + row) + 1)"
    assert overwritten(body) == [(1, True)]


@pytest.mark.parametrize(
    "body",
    [
        "tl.store(y_ptr + row * m + tl.program_id(1), tl.sum(x, axis=0))",
        "tl.store(y_ptr + row * stride + cols, x, mask=mask)",
        "tl.store(y_ptr + row, tl.load(x_ptr + row))",
        "tl.store(y_ptr + row, tl.load(x_ptr + row) + tl.zeros([1], dtype=x.dtype))",
        "tl.store(y_ptr + row, x.shape[0])",
        "tl.atomic_add(y_ptr + row, tl.sum(x, axis=0))",
        "if tl.program_id(1) == 0:\n    tl.store(y_ptr + row, tl.sum(x, axis=0))",
        "if tl.program_id(1) > 0:\n    return\ntl.store(y_ptr + row, tl.sum(x, axis=0))",
        "tl.store(y_ptr + row, tl.sum(x, axis=0), mask=tl.program_id(1) == 0)",
        "last = tl.atomic_add(y_ptr, 1)\nif last == m:\n    tl.store(y_ptr + row, tl.sum(x, axis=0))",
        "place = tl.load(y_ptr + tl.program_id(1))\ntl.store(x_ptr + place * n + row, tl.sum(x, axis=0))",
        "if stride <= BLOCK:\n    tl.store(y_ptr + row, tl.sum(x, axis=0))",
        "s, p = tl.sum(x, axis=0), y_ptr + row\nif FLAG:\n    tl.atomic_add(p, s)\nelse:\n    tl.store(p, s)",
        "while tl.atomic_cas(y_ptr, 0, 1) == 1:\n    pass\ntl.store(x_ptr + row, tl.sum(x, axis=0))",
    ],
)
def test_stores_that_do_not_meet(body: str) -> None:
    assert overwritten(body) == []


def test_what_a_helper_makes_of_the_program_is_not_known() -> None:
    helper = "@triton.jit\ndef place(row):\n    return row * tl.num_programs(1) + tl.program_id(1)\n"
    assert overwritten("tl.store(y_ptr + place(row), tl.sum(x, axis=0))", helper) == []


FLAT = """
def run(x, y, n, m):
    B, H, N = x.shape
    kernel[(B * H,)](x, y, N, H, 1, BLOCK=64, FLAG=y.flag)
"""
HEADS = """\
pid = tl.program_id(0)
batch, head = pid // m, (pid % m).to(tl.int64)
cols = tl.arange(0, BLOCK)
x = tl.load(x_ptr + pid * n + cols, mask=cols < n, other=0.0)
"""


@pytest.mark.parametrize(
    ("body", "meets"),
    [
        ("tl.store(y_ptr + batch, tl.sum(x, axis=0))", True),
        ("tl.store(y_ptr + batch * n + cols, x, mask=cols < n)", True),
        ("tl.store(y_ptr + batch, tl.load(x_ptr + head))", True),
        ("tl.store(y_ptr + batch, tl.load(x_ptr + batch))", False),
        ("tl.store(y_ptr + batch * m + head, tl.sum(x, axis=0))", False),
        ("tl.store(y_ptr + pid, tl.sum(x, axis=0))", False),
        ("tl.store(y_ptr + batch * m + head // 2 * 2 + head % 2, tl.sum(x, axis=0))", False),
        ("if head == 0:\n    tl.store(y_ptr + batch, tl.sum(x, axis=0))", False),
        ("tl.store(y_ptr + pid // 1, tl.sum(x, axis=0))", False),
        ("pid -= 1\ntl.store(y_ptr + pid // m, tl.sum(x, axis=0))", False),
    ],
)
def test_programs_that_share_a_part_of_their_number(body: str, meets: bool) -> None:
    found = list(overwrites(flow(HEADS + body, after=FLAT)))
    assert [overwrite.shared is not None for overwrite in found] == [True] * meets


def test_the_programs_number_by_another_name() -> None:
    body = "tl.store(y_ptr + other.program_id(1) * n + row, tl.sum(x, axis=0))"
    assert overwritten(body, "import other") == []
    assert overwritten("tl.store(y_ptr + other.place(1) * n + row, tl.sum(x, axis=0))", "import other") == []


LANES = "row = tl.program_id(0)\nlanes = tl.arange(0, BLOCK)\nx = tl.load(x_ptr + row * n + lanes)\n"
STORE = "tl.store(y_ptr + row * n + lanes, x)\n"


def read_early(body: str) -> int:
    return len(list(early_loads(flow(LANES + body))))


@pytest.mark.parametrize(
    "body",
    [
        STORE + "a = tl.load(y_ptr + row * n + BLOCK - 1 - lanes)",
        STORE + "a = tl.load(y_ptr + row * n + n - 1 - lanes)",
        STORE + "a = tl.load(y_ptr + row * n + 2 * lanes)",
        STORE + "a = tl.load(y_ptr + row * n)",
        "tl.store(y_ptr + row * n, m)\na = tl.load(y_ptr + row * n + lanes)",
        "tl.store(y_ptr + row, m)\na = tl.load(y_ptr + row)\nif a == 0:\n    tl.store(x_ptr + lanes, x)",
    ],
)
def test_loads_of_what_other_threads_store(body: str) -> None:
    assert read_early(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        STORE + "a = tl.load(y_ptr + row * n + lanes)",
        STORE + "a = tl.load(x_ptr + row * n + BLOCK - 1 - lanes)",
        STORE + "tl.debug_barrier()\na = tl.load(y_ptr + row * n + BLOCK - 1 - lanes)",
        STORE + "s = tl.sum(x, axis=0)\na = tl.load(y_ptr + row * n + BLOCK - 1 - lanes)",
        STORE + "a = tl.load(y_ptr + (row + 1) * n + 2 * lanes)",
        "if FLAG:\n    tl.store(y_ptr + lanes, x)\nelse:\n    a = tl.load(y_ptr + 2 * lanes)",
        "tl.store(y_ptr + row, m)\na = tl.load(y_ptr + row)\ntl.store(y_ptr + row, a + 1)",
    ],
)
def test_loads_of_what_the_thread_has_stored_or_all_have(body: str) -> None:
    assert read_early(body) == 0


TAKE = "while tl.atomic_cas(y_ptr, 0, 1) == 1:\n    pass\n"
RELEASE = "tl.atomic_xchg(y_ptr, 0)\n"


def released_early(body: str) -> int:
    return len(list(early_releases(flow(LANES + body, after=LAUNCH))))


@pytest.mark.parametrize(
    "body",
    [
        TAKE + "tl.store(x_ptr + lanes, x)\n" + RELEASE,
        TAKE + "if FLAG:\n    tl.store(x_ptr + lanes, x)\n" + RELEASE,
    ],
)
def test_a_lock_that_is_released_too_early(body: str) -> None:
    assert released_early(body) == 1


@pytest.mark.parametrize(
    "body",
    [
        TAKE + "tl.store(x_ptr + lanes, x)\ntl.debug_barrier()\n" + RELEASE,
        TAKE + "tl.store(x_ptr + row, m)\n" + RELEASE,
        TAKE + "tl.atomic_add(x_ptr + lanes, x)\n" + RELEASE,
        "tl.store(x_ptr + lanes, x)\n" + RELEASE,
        "tl.store(x_ptr + lanes, x)\n" + TAKE + RELEASE,
    ],
)
def test_a_lock_that_all_threads_are_done_with(body: str) -> None:
    assert released_early(body) == 0


OF_DESCRIPTORS = """
@triton.jit
def kernel(x, y, BLOCK: tl.constexpr):
    batch, tile = tl.program_id(1), tl.program_id(0)
    block = x.load([batch, tile * BLOCK])
    y.store([{place}], block)

def run(x, y):
    B, N = x.shape
    first = TensorDescriptor.from_tensor(x, [1, 64])
    second = TensorDescriptor.from_tensor(y, [1, 64])
    kernel[(triton.cdiv(N, 64), B)](first, second, BLOCK=64)
"""


def test_a_descriptor_is_stored_to_at_its_offsets() -> None:
    imports = "from triton.tools.tensor_descriptor import TensorDescriptor\n"
    (found,) = flows(imports + OF_DESCRIPTORS.format(place="batch, tile * BLOCK"))
    assert list(overwrites(found)) == []
