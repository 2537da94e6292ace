"""What the compiler was seen to refuse, by release, and what it was seen to take: each line was compiled."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.ir.test_front_end import kinds, mistakes

_REFUSED = [
    ("tl.store(out_ptr, None)", "NO_VALUE", "3.2 3.9"),
    ("tl.store(out_ptr, (1.0, 2.0))", "NO_VALUE", "3.3 3.9"),
    ("x = tl.load(x_ptr) * None", "NO_VALUE", "3.2 3.9"),
    ("x = tl.maximum(tl.load(x_ptr), None)", "NO_VALUE", "3.2 3.9"),
    ("x = +tl.zeros((8,), tl.float32)", "OPERANDS", "3.2 3.9"),
    ("x = tl.zeros((8,), tl.float8e5).to(tl.int32)", "CAST", "3.2 3.9"),
    ("x = tl.zeros((8,), tl.int32).to(float)", "DTYPE_KIND", "3.2 3.9"),
    ('x = tl.zeros((8,), tl.float32).to(tl.float16, fp_downcast_rounding="up")', "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.ceil(tl.zeros((8,), tl.float16))", "MATH_DTYPE", "3.2 3.9"),
    ("x = tl.div_rn(tl.zeros((8,), tl.int32), tl.zeros((8,), tl.int32))", "MATH_DTYPE", "3.2 3.9"),
    ("x = tl.fma(tl.zeros((8,), tl.int32), 2, 1)", "MATH_DTYPE", "3.2 3.9"),
    ("x = tl.trans(tl.arange(0, 8))", "AXIS", "3.2 3.9"),
    ("x = tl.trans(tl.zeros((2, 4, 8), tl.float32))", "AXIS", "3.2 3.5"),
    ("x = tl.sort(tl.zeros((4, 16), tl.float32), dim=0)", "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.flip(tl.zeros((4, 8), tl.float32), 0)", "ARGUMENT_VALUE", "3.2 3.3"),
    ("x = tl.topk(tl.arange(0, 16), 3)", "ARGUMENT_VALUE", "3.4 3.9"),
    ("x = tl.sort(tl.load(x_ptr))", "REDUCES_SCALAR", "3.2 3.9"),
    ("x = tl.cumsum(5, 0)", "REDUCES_SCALAR", "3.2 3.9"),
    ("x = tl.join(5, tl.arange(0, 16))", "REDUCES_SCALAR", "3.2 3.9"),
    ("x = tl.xor_sum(tl.zeros((16,), tl.float32))", "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.umulhi(tl.zeros((16,), tl.float32), 2)", "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.exp(5)", "MATH_DTYPE", "3.6 3.9"),
    ("x = tl.arange(0, 16) + tl.float16", "NO_VALUE", "3.2 3.9"),
    ("x = (tl.arange(0, 16) > 3) // tl.arange(0, 16)", "SIGNEDNESS", "3.2 3.9"),
    ("x = tl.cast(None, tl.float32)", "NO_VALUE", "3.2 3.9"),
    ("x = tl.histogram(tl.zeros((16,), tl.float32), 8)", "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.join(tl.arange(0, 8), tl.zeros((8,), tl.float32))", "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.zeros((0,), tl.float32)", "BLOCK_SHAPE", "3.8 3.9"),
    ("x = tl.zeros((16,), tl.float32).item()", "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.reduce(tl.zeros((16,), tl.float32), 0, tl.minimum)", "ARGUMENT_VALUE", "3.2 3.9"),
    ("x = tl.dot(tl.zeros((16, 32), tl.uint8), tl.zeros((32, 16), tl.uint8))", "DOT_OPERANDS", "3.2 3.9"),
    ("x = tl.dot(tl.zeros((2, 16, 32), tl.float16), tl.zeros((4, 32, 16), tl.float16))", "DOT_SHAPES", "3.2 3.9"),
    ("tl.atomic_cas(out_ptr + tl.arange(0, 16), 0, 1)", "SHAPES", "3.2 3.9"),
    ("x = tl.load(x_ptr + tl.arange(0, 16), mask=1)", "MASK_DTYPE", "3.5 3.9"),
    ('x = tl.load(x_ptr, cache_modifier=".cs")', "OPTION_VALUE", "3.2 3.7"),
    ('x = tl.load(x_ptr, cache_modifier="cg")', "OPTION_VALUE", "3.2 3.8"),
    ('x = tl.load(x_ptr, eviction_policy="evict_normal")', "OPTION_VALUE", "3.2 3.8"),
    ('x = tl.load(x_ptr, eviction_policy="no_evict")', "OPTION_VALUE", "3.2 3.9"),
    ('tl.device_print("größe", n)', "ARGUMENT_VALUE", "3.2 3.9"),
    ('tl.device_print("n", "m")', "NO_VALUE", "3.2 3.9"),
    ("for i in tl.static_range(0, 64 / 16):\n    tl.store(out_ptr + i, 1.0)", "LOOP_BOUND", "3.2 3.9"),
    ("v = None\nfor i in range(n):\n    v = tl.load(x_ptr + i)", "LOOP_TYPE", "3.2 3.9"),
    ("v: tl.constexpr = 4\nif n > 3:\n    v = tl.program_id(0)", "BRANCH_TYPES", "3.2 3.9"),
    ("v = None\nif n > 3:\n    v = n > 4", "BRANCH_TYPES", "3.2 3.4"),
    ("a, (b, c) = (1.0, (2.0, 3.0))", "ASSIGNMENT", "3.2 3.7"),
    ("v = tl.arange(0, 16)[None:None]", "INDEX", "3.2 3.3"),
]


@pytest.mark.parametrize(("body", "kind", "releases"), _REFUSED)
def test_it_is_refused_by_these_releases(body: str, kind: str, releases: str, tmp_path: Path) -> None:
    first, last = (int(release.partition(".")[2]) for release in releases.split())
    for minor in range(2, 10):
        found = kinds(body, tmp_path, f"==3.{minor}")
        assert (kind in found) == (first <= minor <= last), f"3.{minor}: {found}"


@pytest.mark.parametrize(
    "body",
    [
        "x = tl.arange(0, True)",
        "v = tl.zeros((8,), tl.int32)\nif v.dtype.is_floating():\n    v = tl.exp(v)",
        "if isinstance(tl.load(x_ptr), tl.constexpr):\n    tl.store(out_ptr, missing)",
        "v = (0.0,) * 4",
        "mask = None\ntl.store(out_ptr, 1.0, mask=mask)",
        'x = tl.load(x_ptr, eviction_policy="evict_last")',
        "x = tl.dot_scaled(tl.zeros((128, 64), tl.uint8), tl.zeros((128, 2), tl.uint8), 'e4m3',"
        " tl.zeros((64, 128), tl.float8e4nv), None, 'e4m3')",
    ],
)
def test_it_is_taken(body: str, tmp_path: Path) -> None:
    assert kinds(body, tmp_path, ">=3.4") == []


def test_a_name_set_in_some_arms_is_not_set(tmp_path: Path) -> None:
    body = "if n == 0:\n    v = 1.0\nelif n == 1:\n    v = 2.0\ntl.store(out_ptr, v)"
    assert kinds(body, tmp_path) == ["ONE_PATH"]


@pytest.mark.parametrize(
    "value",
    ["math.sqrt(2 / math.pi)", "width()", "16 * 4 > 3", 'f"{1}"', "A", "torch.cuda.is_available()", "Config()"],
)
def test_globals_of_the_host_are_reported_however_they_are_made(value: str, tmp_path: Path) -> None:
    text = f"""
        A = 16

        class Config:
            pass

        def width():
            return 16

        WIDTH = {value}

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, WIDTH)
    """
    assert [mistake.kind.name for mistake in mistakes(text, tmp_path)] == ["GLOBAL"]


def test_the_last_definition_of_a_global_counts(tmp_path: Path) -> None:
    kernel = "\n@triton.jit\ndef kernel(out_ptr):\n    tl.store(out_ptr + tl.arange(0, WIDTH), 1.0)\n"
    assert [m.kind.name for m in mistakes(f"WIDTH = tl.constexpr(16)\nWIDTH = 32\n{kernel}", tmp_path)] == ["GLOBAL"]
    assert mistakes(f"WIDTH = 32\nWIDTH = tl.constexpr(16)\n{kernel}", tmp_path) == []


def test_what_combines_elements_gives_what_it_takes(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def both(a1, b1, a2, b2):
            return {}

        @triton.jit
        def kernel(out_ptr):
            a = tl.full((16,), 2.0, tl.float32)
            m, v = tl.reduce((a, a), 0, both)
            tl.store(out_ptr, m + v)
    """
    assert [m.kind.name for m in mistakes(text.format("a1 + a2"), tmp_path)] == ["ARGUMENT_VALUE"]
    assert mistakes(text.format("a1 + a2, b1 + b2"), tmp_path) == []


def test_a_mistake_in_an_arm_that_no_launch_decides_is_not_sure(tmp_path: Path) -> None:
    kernel = "@triton.jit\ndef kernel(out_ptr, FLAG: tl.constexpr):\n    if FLAG:\n        tl.store(out_ptr, missing)\n"
    launch = "\ndef launch(out, flag):\n    kernel[(1,)](out, FLAG=flag)\n"
    assert [mistake.sure for mistake in mistakes(kernel, tmp_path)] == [False]
    assert [mistake.sure for mistake in mistakes(kernel + launch, tmp_path)] == [True]
