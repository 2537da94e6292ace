"""The interpreter on small kernels: what is the same address, what is on the way, what a helper gives."""

from __future__ import annotations

import textwrap

import pytest

from tests.queries.kernels import addresses, flow, flows, same_address
from tritonaudit.domains.facts import exclusive
from tritonaudit.domains.value import Less

LANES = "cols = tl.arange(0, BLOCK)\n"
START = "pid = tl.program_id(0)\n" + LANES


# -- addresses -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "tl.load(x_ptr + pid * BLOCK + cols)\ntl.store(cols + BLOCK * pid + x_ptr, 1)",
        "offs = pid * BLOCK + cols\ntl.load(x_ptr + offs)\ntl.store(x_ptr + (pid * BLOCK + cols), 1)",
        "p = x_ptr + cols\np += pid * BLOCK\ntl.load(p)\ntl.store(x_ptr + cols + pid * BLOCK, 1)",
        "tl.load(x_ptr + (pid + 1) * BLOCK + cols)\ntl.store(x_ptr + pid * BLOCK + BLOCK + cols, 1)",
        "tl.load(x_ptr + (pid << 2) + cols)\ntl.store(x_ptr + pid * 4 + cols, 1)",
        "tl.load(x_ptr + cols[None, :])\ntl.store(x_ptr + tl.expand_dims(cols, 0), 1)",
        "tl.load(x_ptr + cols[:, None])\ntl.store(x_ptr + tl.trans(cols[None, :]), 1)",
        "tl.load(x_ptr + pid.to(tl.int64) * n + cols)\ntl.store(x_ptr + tl.cast(pid, tl.int64) * n + cols, 1)",
        "tl.load(x_ptr + tl.multiple_of(pid * n, 16))\ntl.store(x_ptr + n * pid, 1)",
        "tl.load(x_ptr + tl.cdiv(7, 2) + cols)\ntl.store(x_ptr + cols + 4, 1)",
        "tl.load(x_ptr + pid // m)\ntl.store(x_ptr + pid // m, 1)",
        "tl.load(x_ptr + tl.arange(0, BLOCK) * n)\ntl.store(x_ptr + n * cols, 1)",
        "if (offs := pid * BLOCK + cols) is not None:\n    tl.load(x_ptr + offs)\ntl.store(x_ptr + offs, 1)",
    ],
)
def test_one_address_has_one_polynomial_however_it_is_spelled(body: str) -> None:
    assert same_address(START + body)


@pytest.mark.parametrize(
    "body",
    [
        "tl.load(x_ptr + cols)\ntl.store(y_ptr + cols, 1)",
        "tl.load(x_ptr + cols)\ntl.store(x_ptr + cols + 1, 1)",
        "tl.load(x_ptr + cols[:, None])\ntl.store(x_ptr + cols[None, :], 1)",
        "tl.load(x_ptr + pid)\ntl.store(x_ptr + tl.program_id(1), 1)",
        "tl.load(x_ptr + pid // n)\ntl.store(x_ptr + pid // m, 1)",
        "tl.load(x_ptr + tl.load(y_ptr))\ntl.store(x_ptr + tl.load(y_ptr), 1)",
    ],
)
def test_different_addresses_differ(body: str) -> None:
    found = [a for a in flow(START + body).accesses if a.pointer.origin is not None and a.pointer.shape is not None]
    assert len({access.pointer.affine for access in found}) > 1


def test_an_address_is_printed_with_the_names_of_the_kernel() -> None:
    assert addresses(flow(START + "tl.load(x_ptr + pid * BLOCK + cols)")) == [
        "x_ptr + BLOCK * tl.program_id(0) + tl.arange(0, BLOCK)"
    ]


# -- tuples --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "a, b = pid * 2, cols\ntl.load(x_ptr + a + b)\ntl.store(x_ptr + 2 * pid + cols, 1)",
        "(a, b) = (pid, cols)\na, b = b, a\ntl.load(x_ptr + a + 5 * b)\ntl.store(x_ptr + cols + 5 * pid, 1)",
        "(a, (b, c)) = (pid, (cols, n))\ntl.load(x_ptr + a + b * c)\ntl.store(x_ptr + pid + cols * n, 1)",
        "both = (pid, cols)\ntl.load(x_ptr + both[0] + both[1])\ntl.store(x_ptr + pid + cols, 1)",
        "a = b = pid + cols\ntl.load(x_ptr + a)\ntl.store(x_ptr + b, 1)",
    ],
)
def test_tuples_are_taken_apart(body: str) -> None:
    assert same_address(START + body)


def test_a_tuple_of_unknown_length_gives_unknown_parts() -> None:
    found = flow(START + "a, b = something(pid)\ntl.load(x_ptr + a + cols)")
    assert found.accesses[0].pointer.affine is None


# -- loops ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        """
        p = x_ptr + cols
        for k in range(0, n, BLOCK):
            tl.load(p)
            tl.store(x_ptr + k + cols, 1)
            p += BLOCK
        """,
        """
        p = x_ptr + cols
        for k in range(0, tl.cdiv(n, BLOCK)):
            tl.load(p)
            tl.store(x_ptr + k * BLOCK + cols, 1)
            p = p + BLOCK
        """,
        """
        offs = cols
        for k in range(n):
            tl.load(x_ptr + offs)
            tl.store(x_ptr + cols + k * stride, 1)
            offs += stride
        """,
        """
        p = x_ptr + 3 * BLOCK + cols
        for k in tl.range(3, n):
            tl.load(p)
            tl.store(x_ptr + k * BLOCK + cols, 1)
            p += BLOCK
        """,
        """
        p = x_ptr + cols
        q = x_ptr + cols
        for k in tl.static_range(0, 8, 2):
            tl.load(p)
            tl.load(q + k * n)
            p += 2 * n
        """,
        """
        p = x_ptr + n * BLOCK + cols
        for k in range(n, 0, -1):
            tl.load(p)
            tl.store(x_ptr + k * BLOCK + cols, 1)
            p -= BLOCK
        """,
        """
        start = 0
        p = x_ptr + cols
        while start < n:
            tl.load(p)
            tl.store(x_ptr + start + cols, 1)
            start += BLOCK
            p += BLOCK
        """,
    ],
)
def test_a_pointer_that_is_bumped_equals_the_index_arithmetic(body: str) -> None:
    assert same_address(LANES + textwrap.dedent(body))


def test_what_a_loop_adds_irregularly_is_unlike_anything() -> None:
    body = (
        START + "offs = cols\nfor k in range(n):\n    tl.load(x_ptr + offs)\n    offs += k\ntl.store(x_ptr + cols, 1)"
    )
    found = flow(body)
    assert found.accesses[0].pointer.affine != found.accesses[1].pointer.affine
    assert "k" not in str(found.accesses[0].pointer.affine)


def test_inside_a_loop_a_counter_has_its_bounds() -> None:
    found = flow(LANES + "for k in range(n, m, BLOCK):\n    tl.load(x_ptr + k + cols)")
    affine = found.accesses[0].pointer.affine
    assert affine is not None
    (counter,) = (atom for atom in affine.atoms() if atom.kind.value == "loop variable")
    assert (str(counter.start), str(counter.stop), str(counter.step)) == ("n", "m", "BLOCK")


def test_every_access_of_a_loop_is_noted_once() -> None:
    body = LANES + "for i in range(n):\n    for j in range(m):\n        tl.load(x_ptr + i * m + j + cols)\n"
    found = flow(body)
    assert len(found.accesses) == 1
    assert len(found.accesses[0].loops) == 2


def test_after_a_loop_a_name_is_no_longer_what_it_was_before() -> None:
    found = flow(LANES + "i = 0\nfor k in range(n):\n    i += 1\ntl.load(x_ptr + i + cols)\ntl.store(x_ptr + cols, 1)")
    assert found.accesses[0].pointer.affine != found.accesses[1].pointer.affine


@pytest.mark.parametrize("loop", ["for k in range(n):", "while n > 0:", "for k in tl.static_range(4):"])
def test_sums_in_half_precision_are_noted(loop: str) -> None:
    before = f"{LANES}acc = tl.zeros((BLOCK,), dtype=tl.float16)\n{loop}\n    "
    for line in ("acc += tl.load(x_ptr + cols)", "acc = acc + tl.load(x_ptr + cols)", "acc = acc * 2 + cols"):
        assert [(a.name, a.dtype) for a in flow(before + line).accumulations] == [("acc", "fp16")]
    assert flow(before + "acc = tl.zeros((BLOCK,), dtype=tl.float16)\n    acc += 1").accumulations == []


@pytest.mark.parametrize(
    ("operand", "reduction", "dtype"),
    [
        ("float16", "tl.max(v, 0)", "fp32"),
        ("bfloat16", "tl.min(v, 0)", "fp32"),
        ("float64", "tl.max(v, 0)", "fp64"),
        ("int8", "tl.max(v, 0)", "i32"),
        ("float16", "tl.sum(v, 0)", "fp16"),
        ("float16", "tl.sum(v, 0, dtype=tl.float32)", "fp32"),
        ("int8", "tl.sum(v, 0)", "i32"),
        ("uint8", "tl.sum(v, 0)", "u32"),
        ("int64", "tl.sum(v, 0)", "i64"),
        ("int1", "tl.cumsum(v, 0)", "i32"),
        ("float16", "tl.argmax(v, 0)", "i32"),
        ("float16", "tl.softmax(v)", "fp32"),
    ],
)
def test_a_reduction_has_the_dtype_that_the_standard_library_gives_it(operand: str, reduction: str, dtype: str) -> None:
    found = flow(f"{LANES}v = tl.load(x_ptr + cols).to(tl.{operand})\ntl.store(y_ptr + cols, tl.sum({reduction}))")
    assert found.reductions[-1].operand.dtype == dtype


# -- branches ------------------------------------------------------------------------------------------------------


def test_what_both_arms_set_alike_is_known_after_them() -> None:
    assert same_address(
        START + "if n > 1:\n    offs = pid + cols\nelse:\n    offs = cols + pid\n"
        "tl.load(x_ptr + offs)\ntl.store(x_ptr + pid + cols, 1)"
    )


def test_what_the_arms_set_differently_is_neither() -> None:
    found = flow(
        START + "if n > 1:\n    offs = cols\nelse:\n    offs = cols + 1\n"
        "tl.load(x_ptr + offs)\ntl.load(x_ptr + cols)\ntl.store(x_ptr + cols + 1, 1)"
    )
    assert len(set(addresses(found))) == 3


def test_a_conditional_expression_is_joined_as_a_branch_is() -> None:
    found = flow(START + "offs = cols if n > 1 else cols + 1\ntl.load(x_ptr + offs)\ntl.load(x_ptr + cols)")
    assert len(set(addresses(found))) == 2


def test_a_condition_that_is_known_takes_one_arm() -> None:
    found = flow(LANES + "if 1 > 2:\n    tl.load(x_ptr)\nelif True:\n    tl.load(y_ptr)\nelse:\n    tl.load(x_ptr + 1)")
    assert addresses(found) == ["y_ptr"]


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        ("if FLAG:\n    tl.load(x_ptr)\nelse:\n    tl.load(y_ptr)", True),
        ("if not FLAG:\n    tl.load(x_ptr)\nif FLAG:\n    tl.load(y_ptr)", True),
        ("if FLAG:\n    tl.load(x_ptr)\nif FLAG:\n    tl.load(y_ptr)", False),
        ("if FLAG:\n    tl.load(x_ptr)\ntl.load(y_ptr)", False),
        ("if n > 1:\n    tl.load(x_ptr)\nelif n > 0:\n    pass\nelse:\n    tl.load(y_ptr)", True),
        ("if FLAG:\n    tl.load(x_ptr)\n    return\ntl.load(y_ptr)", True),
        ("if FLAG:\n    pass\nelse:\n    tl.load(x_ptr)\n    return\ntl.load(y_ptr)", True),
        ("if FLAG:\n    if n:\n        tl.load(x_ptr)\nelse:\n    if n:\n        tl.load(y_ptr)", True),
    ],
)
def test_places_in_different_arms_exclude_each_other(body: str, apart: bool) -> None:
    first, second = flow(LANES + body).accesses
    assert exclusive(first.path, second.path) is apart


@pytest.mark.parametrize(("condition", "constexpr"), [("FLAG", True), ("BLOCK > 16", True), ("n > 16", False)])
def test_a_guard_says_when_it_is_decided(condition: str, constexpr: bool) -> None:
    (access,) = flow(f"if {condition}:\n    tl.load(x_ptr)").accesses
    (guard,) = access.path
    assert (guard.condition, guard.arm, guard.constexpr) == (condition, True, constexpr)


def test_an_early_return_guards_what_follows_it() -> None:
    body = START + "if pid * BLOCK >= n:\n    return\ntl.load(x_ptr + pid * BLOCK + cols)"
    (access,) = flow(body).accesses
    (guard,) = access.path
    assert not guard.arm
    assert guard.affines


def test_what_follows_a_return_is_not_run() -> None:
    assert addresses(flow("tl.load(x_ptr)\nreturn\ntl.load(y_ptr)")) == ["x_ptr"]


def test_a_guard_ends_with_its_block() -> None:
    body = "for k in range(n):\n    if FLAG:\n        tl.load(x_ptr)\n    tl.load(y_ptr)\ntl.store(y_ptr, 1)"
    assert [len(access.path) for access in flow(body).accesses] == [1, 0, 0]


# -- masks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mask",
    [
        "cols < n", "n > cols", "cols - n < 0", "0 < n - cols", "(cols < n) & True", "cols + 1 < n + 1",
        "cols[None, :] < n",
    ],
)  # fmt: skip
def test_one_condition_is_one_however_it_is_spelled(mask: str) -> None:
    found = flow(LANES + f"tl.load(x_ptr + cols, mask=cols < n)\ntl.load(x_ptr + cols, mask={mask})")
    masks = {access.mask.mask for access in found.accesses if access.mask is not None}
    assert len(masks) == 1


def test_a_conjunction_keeps_its_conditions_and_a_disjunction_does_not() -> None:
    def conditions(mask: str) -> list[type]:
        (access,) = flow(LANES + f"tl.load(x_ptr + cols, mask={mask})").accesses
        assert access.mask is not None
        return sorted({type(condition) for condition in access.mask.mask or ()}, key=str)

    assert conditions("(cols < n) & (cols < m)") == [Less]
    assert Less not in conditions("(cols < n) | (cols < m)")
    assert Less not in conditions("~(cols < n)")


def test_a_mask_that_is_none_is_none() -> None:
    found = flow(LANES + "tl.load(x_ptr + cols, mask=None)\ntl.load(x_ptr + cols)\ntl.load(x_ptr + cols, cols < n)")
    assert [access.mask is None for access in found.accesses] == [True, True, False]


# -- helpers -------------------------------------------------------------------------------------------------------

HELPERS = """
@triton.jit
def place(ptr, row, step, SIZE: tl.constexpr, shift=0):
    lanes = tl.arange(0, SIZE)
    return ptr + row * step + lanes + shift

@triton.jit
def several(a, b):
    return a + b, a - b

@triton.jit
def early(a, b):
    if a is None:
        return b
    return b

@triton.jit
def forever(a):
    return forever(a)

@triton.jit
def outer(ptr, row, step, SIZE: tl.constexpr):
    return place(ptr, row, step, SIZE)
"""


@pytest.mark.parametrize(
    "body",
    [
        "tl.load(place(x_ptr, pid, n, BLOCK))\ntl.store(x_ptr + pid * n + cols, 1)",
        "tl.load(place(x_ptr, step=n, row=pid, SIZE=BLOCK))\ntl.store(x_ptr + pid * n + cols, 1)",
        "tl.load(place(x_ptr, pid, n, BLOCK, 5))\ntl.store(x_ptr + pid * n + 5 + cols, 1)",
        "tl.load(outer(x_ptr, pid, n, BLOCK))\ntl.store(x_ptr + pid * n + cols, 1)",
        "a, b = several(pid, n)\ntl.load(x_ptr + a * 2 + b)\ntl.store(x_ptr + 3 * pid + n, 1)",
        "tl.load(x_ptr + early(pid, n))\ntl.store(x_ptr + n, 1)",
    ],
)
def test_a_helper_gives_what_it_returns(body: str) -> None:
    assert same_address(START + body, HELPERS)


def test_a_helper_that_calls_itself_is_unknown_and_ends() -> None:
    (access,) = flow("tl.load(x_ptr + forever(n))", HELPERS).accesses
    assert access.pointer.affine is None


def test_the_names_of_a_kernel_are_not_those_of_a_helper() -> None:
    helper = "@triton.jit\ndef step(a):\n    pid = a + 7\n    return pid\n"
    assert same_address(START + "other = step(n)\ntl.load(x_ptr + pid)\ntl.store(x_ptr + tl.program_id(0), 1)", helper)


def test_what_a_helper_accesses_is_its_own() -> None:
    helper = "@triton.jit\ndef fetch(ptr):\n    return tl.load(ptr)\n"
    assert addresses(flow("fetch(x_ptr)\ntl.store(y_ptr, 1)", helper)) == ["y_ptr"]


def test_a_helper_is_known_as_one() -> None:
    found = {kernel.name: kernel.is_helper for kernel in flows(HELPERS + "@triton.jit\ndef k(x): tl.store(x, 1)\n")}
    assert found == {"place": True, "several": True, "early": True, "forever": True, "outer": True, "k": False}


def test_a_function_that_is_launched_is_no_helper() -> None:
    found = flows("@triton.jit\ndef k(x):\n    return x\n\n\ndef run(x):\n    k[(1,)](x)\n")
    assert [kernel.is_helper for kernel in found] == [False]


# -- whatever is written -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "x = [i for i in range(3)]\ny = {**x}\nz = lambda: 1\ndel x",
        "def inner(a):\n    return a\ntl.store(x_ptr, inner(1))",
        "class C:\n    pass\ntry:\n    pass\nfinally:\n    pass",
        "x_ptr.a.b[0] = 1\nx_ptr.c += 1\n(a, *b) = n\nglobal G\nassert n, 'm'",
        "for a, b in pairs:\n    tl.load(x_ptr + a)",
        "while True:\n    break\nelse:\n    pass\nfor i in range():\n    continue",
        "a = 1 / 0\nb = 1 % 0\nc = 2 ** 99999\nd = 1 << 99999\ne = 10 ** 400 * 1.0\nf = -1 << -1",
        "a = 1e400 - 1e400\nb = tl.exp(1e400)\nc = tl.log(0.0)\nd = tl.sqrt(-1.0)",
        "tl.load()\ntl.store()\ntl.arange()\ntl.zeros()\ntl.where()\ntl.dot()\ntl.sum()\ntl.make_block_ptr()",
        "tl.load(*x_ptr)\ntl.sum(x_ptr, axis=99)\ntl.sum(tl.arange(0, 4), axis=-7)\ntl.trans(1, 2, 3)",
        "x = tl.arange(0, 4)[:, None, None, None, None, None, None, None]\ntl.sum(x, axis=3)\nx[0][1]['a']",
        "tl.zeros([], tl.float32)\ntl.full((n,), float('nan'), tl.int32)\ntl.max(float('inf'), 0)\nint('x')",
        "nonlocal_ = yield_ = await_ = ...\nprint(f'{n}', end='')\nn: int\nm: tl.constexpr = 3",
        "import os\nfrom x import y\nwith a as b, c:\n    pass\nx = a if b else c if d else e",
    ],
)  # fmt: skip
def test_no_text_is_too_strange(body: str) -> None:
    assert flow(body).name == "kernel"


def test_a_function_that_indexes_a_parameter_as_a_block_is_a_helper() -> None:
    body = "tl.store(x_ptr + tl.arange(0, BLOCK)[None, :], 0.0, mask={}[None, :])\n"
    assert flow(body.format("m")).is_helper
    assert not flow("m = tl.arange(0, BLOCK) < n\n" + body.format("m")).is_helper
    assert not flow(
        body.format("m"), after="def run(x):\n    kernel[(1,)](x, x, 1, 1, 1, BLOCK=64, FLAG=0)\n"
    ).is_helper


# -- loops in loops ------------------------------------------------------------------------------------------------


def nested(depth: int) -> str:
    """A running offset that the innermost of so many loops moves on."""
    lines = ["offs = cols"]
    lines += [" " * level + f"for i{level} in range(n):" for level in range(depth)]
    lines += [" " * depth + "tl.load(x_ptr + offs)", " " * depth + "offs += BLOCK", "tl.store(x_ptr + offs, 1)"]
    return "\n".join(lines)


@pytest.mark.parametrize("depth", [1, 2, 5, 9, 60])
def test_loops_in_loops_end_and_never_leave_a_moved_offset_where_it_began(depth: int) -> None:
    found = flow(LANES + nested(depth))
    assert len(found.accesses) == 2
    assert "x_ptr + tl.arange(0, BLOCK)" not in addresses(found)
