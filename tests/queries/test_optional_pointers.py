"""Pointers that may be None, and where a kernel uses them though it knows no better."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.optional_pointers import unguarded_pointers

BIAS = "b = tl.load(y_ptr + tl.program_id(0))"
USE = "if FLAG:\n    tl.store(x_ptr, 1.0)"
WRAPPER = """
def wrapper(x, y=None):
    {line}
    kernel[(8,)](x, y, 1, 2, 3, BLOCK=64, FLAG={flag})
"""
NOT_NONE = WRAPPER.format(line="pass", flag="y is not None")


def unguarded(body: str, wrapper: str = NOT_NONE) -> list[tuple[str, str]]:
    return [(found.parameter, found.flag) for found in unguarded_pointers(flow(body, after=wrapper))]


def test_a_load_beside_the_condition() -> None:
    assert unguarded(f"{BIAS}\n{USE}") == [("y_ptr", "FLAG")]
    assert unguarded(f"{BIAS}\n{USE}", WRAPPER.format(line="f = y is not None", flag="f")) == [("y_ptr", "FLAG")]
    assert unguarded(f"{BIAS}\n{USE}", WRAPPER.format(line="pass", flag="True if y is not None else False")) != []


def test_a_pointer_that_is_moved_before_the_condition() -> None:
    guarded = f"if FLAG:\n    {BIAS}"
    assert unguarded(f"y_ptr += tl.program_id(0)\n{guarded}") == [("y_ptr", "FLAG")]
    assert unguarded(f"p = y_ptr + tl.program_id(0)\n{guarded}") == [("y_ptr", "FLAG")]
    assert unguarded(f"p = y_ptr + 1 if FLAG else x_ptr\n{guarded}") == []


@pytest.mark.parametrize(
    "body",
    [
        f"if FLAG:\n    {BIAS}",
        f"if y_ptr is not None:\n    {BIAS}\n{USE}",
        f"if not FLAG:\n    return\n{BIAS}\n{USE}",
        f"{BIAS} if FLAG else 0.0",
        f"if FLAG and n > 1:\n    {BIAS}",
        f"if BLOCK > 8:\n    {BIAS}\n{USE}",
        f"{BIAS}\ntl.store(x_ptr, b)",
    ],
)
def test_a_use_under_a_condition_or_a_flag_that_is_not_asked(body: str) -> None:
    assert unguarded(body) == []


@pytest.mark.parametrize(
    "wrapper",
    [
        WRAPPER.format(line="pass", flag="x is not None and y.any()"),
        WRAPPER.format(line="f = y is not None; y = x if y is None else y", flag="f"),
        WRAPPER.format(line="pass", flag="flag"),
        "",
    ],
)
def test_the_launch_may_not_say_so_or_pass_something_else(wrapper: str) -> None:
    assert unguarded(f"{BIAS}\n{USE}", wrapper) == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("n = y.shape[0]", []),
        ("z = torch.empty_like(y)", []),
        ("y = y.contiguous()", []),
        ("n = None if y is None else y.shape[0]", [("y_ptr", "FLAG")]),
        ("n = y is not None and y.shape[0]", [("y_ptr", "FLAG")]),
        ("y = make(y)", [("y_ptr", "FLAG")]),
        ("n = x.shape[0]", [("y_ptr", "FLAG")]),
    ],
)
def test_a_wrapper_that_needs_the_tensor_itself_never_passes_none(line: str, found: list[tuple[str, str]]) -> None:
    decorator = '@triton.heuristics({"FLAG": lambda args: args["y_ptr"] is not None})'
    wrapper = f"\ndef wrapper(x, y=None):\n    {line}\n    if x:\n        kernel[(8,)](x, y, 1, 2, 3, BLOCK=64)\n"
    kernel = flow(f"{BIAS}\n{USE}", before=decorator, after=wrapper)
    assert [(each.parameter, each.flag) for each in unguarded_pointers(kernel)] == found


def test_what_runs_under_another_condition_tells_nothing() -> None:
    assert unguarded(f"{BIAS}\n{USE}", WRAPPER.format(line="if x: n = y.shape", flag="y is not None")) != []
