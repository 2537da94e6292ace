"""What counts as a description of a kernel."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flows
from tritonaudit.kernel.documented import is_documented

KERNEL = """{above}
@triton.jit
def kernel(x_ptr):
    {head}
    tl.store(x_ptr, 1)  # one


def run(x):
    {wrapper}
    kernel[(1,)](x)


def other(x):
    '''Nothing that launches it.'''
"""


def documented(above: str = "", head: str = "pass", wrapper: str = "pass") -> bool:
    (kernel,) = flows(KERNEL.format(above=above, head=head, wrapper=wrapper))
    return is_documented(kernel.module, kernel.function, kernel.launches)


@pytest.mark.parametrize(
    "words",
    [{"above": "# Ones."}, {"head": "'''Ones.'''"}, {"head": "# Ones."}, {"wrapper": "'''Ones.'''"}],
    ids=str,
)
def test_words(words: dict[str, str]) -> None:
    assert documented(**words)


def test_no_words() -> None:
    assert not documented()
