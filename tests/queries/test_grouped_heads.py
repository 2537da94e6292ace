"""Heads that are chosen by remainders."""

from __future__ import annotations

import ast

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.grouped_heads import interleaved

ATTENTION = """\
head = tl.program_id(0)
{}
a = tl.load(x_ptr + head * n + tl.arange(0, BLOCK)[:, None])
b = tl.load(x_ptr + kv * m + tl.arange(0, BLOCK)[:, None])
c = tl.load(x_ptr + kv * {} + tl.arange(0, BLOCK)[:, None])
tl.store(y_ptr + head * {} + tl.arange(0, BLOCK)[:, None], {})
"""


def remainders(choice: str, third: str = "y_ptr", fourth: str = "x_ptr", value: str = "tl.dot(a, b)") -> list[str]:
    """The remainders; two of the pointers stand for strides, which flow cannot know from them."""
    found = flow(ATTENTION.format(choice, third, fourth, value))
    return [ast.unparse(choice.remainder) for choice in interleaved(found)]


@pytest.mark.parametrize(
    "choice",
    ["kv = head % stride", "if FLAG:\n    kv = head % stride\nelse:\n    kv = head"],
)
def test_a_remainder_for_two_tensors_is_found(choice: str) -> None:
    assert remainders(choice) == ["head % stride"]


@pytest.mark.parametrize(
    ("choice", "strides"),
    [
        ("kv = head // stride", ("y_ptr", "x_ptr")),
        ("kv = head % 8", ("y_ptr", "x_ptr")),
        ("kv = head % stride\nz = m * (head // stride)", ("y_ptr", "x_ptr")),
        ("kv = head % stride", ("m", "x_ptr")),
        ("kv = head % stride", ("y_ptr", "n")),
    ],
)
def test_other_choices_and_single_tensors_are_not(choice: str, strides: tuple[str, str]) -> None:
    assert remainders(choice, *strides) == []


def test_a_kernel_without_a_matrix_product_has_no_keys() -> None:
    assert remainders("kv = head % stride", value="a + b") == []
