"""Which quotients are 0 / 0 where the data leave a loop nothing to run over."""

from __future__ import annotations

import textwrap

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.empty_loops import EmptyLoop, empty_loops

DATA = (
    "pid = tl.program_id(0)\nbegin = tl.load(x_ptr + pid)\nend = tl.load(x_ptr + pid + 1)\ncols = tl.arange(0, BLOCK)\n"
)


def found(bounds: str, after: str, start: str = "0.0", before: str = "") -> list[EmptyLoop]:
    """What is found of a sum over a loop with these bounds."""
    loop = f"""
        total = {start}
        acc = tl.zeros((BLOCK,), dtype=tl.float32)
        for i in range({bounds}):
            acc += tl.load(y_ptr + i * n + cols)
            total += tl.exp(tl.load(y_ptr + i))
        """
    return list(empty_loops(flow(DATA + before + textwrap.dedent(loop) + after)))


STORE = "tl.store(y_ptr + cols, acc / total)"


@pytest.mark.parametrize(
    "bounds", ["end", "begin, end", "begin, end, 4", "tl.cdiv(end, 64)", "(end + 63) // 64", "0, tl.minimum(end, n)"]
)
def test_a_loop_over_loaded_numbers_may_be_empty(bounds: str) -> None:
    assert len(found(bounds, STORE)) == 1


@pytest.mark.parametrize(
    "bounds", ["n", "end + 1", "tl.cdiv(end + 1, 64)", "tl.maximum(end, 1)", "BLOCK", "(end + 64) // 64"]
)
def test_other_loops_are_not_known_to_be(bounds: str) -> None:
    assert found(bounds, STORE) == []


@pytest.mark.parametrize(
    "after",
    [
        "acc /= total\ntl.store(y_ptr + cols, acc)",
        "acc = acc * (1.0 / total)\ntl.store(y_ptr + cols, acc.to(tl.float16))",
        "tl.store(y_ptr + cols, acc / end)",
        "tl.store(y_ptr + cols, acc / total, mask=cols < n)",
        "if FLAG:\n    tl.store(y_ptr + cols, acc / total)",
    ],
)
def test_what_divides_by_the_sum_or_by_the_length_is_found(after: str) -> None:
    assert len(found("end", after)) == 1


@pytest.mark.parametrize(
    "after",
    [
        "tl.store(y_ptr + cols, acc / (total + 1e-6))",
        "tl.store(y_ptr + cols, acc / tl.maximum(total, 1e-6))",
        "tl.store(y_ptr + cols, tl.where(end > 0, acc / total, 0.0))",
        "tl.store(y_ptr + cols, acc / tl.where(total == 0, 1.0, total))",
        "tl.store(y_ptr + cols, acc / total, mask=cols < end)",
        "if end > 0:\n    tl.store(y_ptr + cols, acc / total)",
        "if end == 0:\n    return\ntl.store(y_ptr + cols, acc / total)",
        "x = acc / total",
        "tl.store(y_ptr + cols, acc / n)",
    ],
)
def test_what_knows_of_empty_loops_is_not(after: str) -> None:
    assert found("end", after) == []


def test_a_sum_that_starts_above_zero_is_not_zero() -> None:
    assert found("end", STORE, start="1.0") == []


def test_a_division_is_reported_once_though_two_loops_may_be_empty() -> None:
    again = "for i in range(end, n):\n    total += tl.exp(tl.load(y_ptr + i))\n"
    assert found("begin, end", again + STORE) == []
    again = "for i in range(end, begin):\n    total += tl.exp(tl.load(y_ptr + i))\n"
    assert len(found("begin, end", again + STORE)) == 1


@pytest.mark.parametrize(("bounds", "split"), [("pid * 64, end", True), ("begin, end", False)])
def test_parts_are_distinguished(bounds: str, split: bool) -> None:
    assert [loop.split for loop in found(bounds, STORE)] == [split]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("i * 16 < end", 1),
        ("tl.minimum(i * 16 + 16, end) > i * 16", 1),
        ("i * 16 < n", 0),
        ("tl.load(x_ptr + i) > 0", 0),
        ("end == i", 0),
    ],
)
def test_what_a_length_may_leave_out_each_time_is_a_sum_of_nothing(condition: str, count: int) -> None:
    loop = f"""
        total = 0.0
        for i in range(0, 8):
            if {condition}:
                total += tl.exp(tl.load(y_ptr + i))
        """
    body = DATA + textwrap.dedent(loop) + "tl.store(y_ptr + cols, cols / total)"
    assert len(list(empty_loops(flow(body)))) == count


@pytest.mark.parametrize(("condition", "split"), [("i * 16 < end", False), ("pid * 64 + i * 16 < end", True)])
def test_parts_that_an_if_leaves_out_are_distinguished(condition: str, split: bool) -> None:
    loop = f"""
        total = 0.0
        for i in range(0, 8):
            if {condition}:
                total += tl.exp(tl.load(y_ptr + i))
        """
    body = DATA + textwrap.dedent(loop) + "tl.store(y_ptr + cols, cols / total)"
    assert [loop.split for loop in empty_loops(flow(body))] == [split]


def test_a_loop_in_a_loop_may_be_empty_each_time() -> None:
    loop = """
        total = 0.0
        for head in range(0, 8):
            for i in range(end):
                total += tl.exp(tl.load(y_ptr + head * n + i))
        """
    body = DATA + textwrap.dedent(loop) + "tl.store(y_ptr + cols, cols / total)"
    assert len(list(empty_loops(flow(body)))) == 1


def test_what_while_tests_may_be_that_there_are_data() -> None:
    loop = """
        while pid < end:
            total = 0.0
            for i in range(end):
                total += tl.exp(tl.load(y_ptr + i))
            tl.store(y_ptr + cols, cols / total)
            pid += n
        """
    assert list(empty_loops(flow(DATA + textwrap.dedent(loop)))) == []
    assert (
        len(list(empty_loops(flow(DATA + textwrap.dedent(loop).replace("while pid < end", "for _ in range(n)"))))) == 1
    )


@pytest.mark.parametrize(("test", "count"), [("tl.program_id(1) * 64 >= end", 0), ("not FLAG", 1)])
def test_a_program_that_may_leave_early_has_something_to_do(test: str, count: int) -> None:
    assert len(found("end", STORE, before=f"if {test}:\n    return\n")) == count
