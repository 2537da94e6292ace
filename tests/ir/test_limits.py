"""Kernels that would keep a reader busy for ever are read for a moment."""

from __future__ import annotations

from pathlib import Path

from tests.ir.test_front_end import kinds, mistakes


def test_unrolled_loops_in_loops_are_read_a_few_times(tmp_path: Path) -> None:
    lines = [f"{'    ' * depth}for i{depth} in tl.static_range(8):" for depth in range(8)]
    body = "\n".join([*lines, "    " * 8 + "tl.store(out_ptr, missing)"])
    assert kinds(body, tmp_path) == ["UNDEFINED"]


def test_constants_do_not_grow_without_end(tmp_path: Path) -> None:
    body = 's: tl.constexpr = "ab" * 10**12\nb: tl.constexpr = 2**40 * 2**40 * 2**40\n'
    body += "\n".join(f"b{i}: tl.constexpr = b{i - 1 if i else ''} * b{i - 1 if i else ''}" for i in range(12))
    assert kinds(body, tmp_path) == []


def test_helpers_that_call_one_another_end(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def ping(x, n: tl.constexpr):
            return pong(x, n + 1) + pong(x, n + 2)

        @triton.jit
        def pong(x, n: tl.constexpr):
            return ping(x, n + 1) + ping(x, n + 3)

        @triton.jit
        def kernel(out_ptr):
            tl.store(out_ptr, ping(1.0, 0))
    """
    assert "RECURSION" in {mistake.kind.name for mistake in mistakes(text, tmp_path)}


def test_huge_numbers_cost_no_time(tmp_path: Path) -> None:
    body = "for i in tl.static_range(10**20):\n    tl.store(out_ptr + i, 1.0)\n"
    body += "for i in tl.static_range(100000000000000000000):\n    tl.store(out_ptr + i, 1.0)\n"
    body += "y: tl.constexpr = 10**60 * 1.5\n"
    body += "\n".join(f"z{i}: tl.constexpr = {'3' if i == 0 else f'z{i - 1} * z{i - 1}'}" for i in range(60))
    assert kinds(body, tmp_path) == []


def test_texts_do_not_double_without_end(tmp_path: Path) -> None:
    lines = [f"s{i}: tl.constexpr = " + ('"ab"' if i == 0 else f"s{i - 1} + s{i - 1}") for i in range(60)]
    assert kinds("\n".join(lines), tmp_path) == []


def test_reductions_of_what_is_not_known_say_nothing(tmp_path: Path) -> None:
    text = """
        @triton.jit
        def helper(values, combine):
            return tl.reduce(values, 0, combine)
    """
    assert mistakes(text, tmp_path) == []
