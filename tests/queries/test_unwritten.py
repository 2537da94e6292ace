"""Outputs of which a program leaves its part unwritten."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.queries.unwritten import unwritten_outputs

EARLY = "pid = tl.program_id(0)\nflag = tl.load(x_ptr + pid)\nif flag == 0:\n    return\n"
STORE = "tl.store(y_ptr + pid, 1.0)"
WRAPPER = """
def wrapper(x):
    y = torch.empty_like(x)
    kernel[(x.shape[0],)](x, y, 1, 2, 3, BLOCK=64, FLAG=True)
    return y
"""


def unwritten(body: str, wrapper: str = WRAPPER) -> list[str]:
    return [found.parameter for found in unwritten_outputs(flow(body, after=wrapper))]


def test_an_early_return_before_the_only_store() -> None:
    assert unwritten(EARLY + STORE) == ["y_ptr"]
    assert unwritten(EARLY.replace("== 0:\n    return", "!= 0:") + "    " + STORE) == ["y_ptr"]


@pytest.mark.parametrize(
    "body",
    [
        EARLY.replace("    return", f"    {STORE}\n    return") + STORE,
        EARLY.replace("flag == 0", "pid == 0") + STORE,
        EARLY + "tl.store(y_ptr + flag, 1.0)",
        EARLY + "tl.store(y_ptr + pid + tl.arange(0, BLOCK), 1.0, mask=tl.arange(0, BLOCK) < flag)",
        EARLY + "for i in range(flag):\n    tl.store(y_ptr + pid * n + i, 1.0)",
    ],
)
def test_all_is_written_or_the_value_says_how_much_or_where(body: str) -> None:
    assert unwritten(body) == []


@pytest.mark.parametrize(
    "wrapper",
    [
        WRAPPER.replace("empty_like", "zeros_like"),
        WRAPPER.replace("return y", "return y[flags]"),
        WRAPPER.replace("return y", "fill(y)\n    return y"),
        WRAPPER.replace("return y", "return None"),
        "",
    ],
)
def test_the_wrapper_may_see_to_it(wrapper: str) -> None:
    assert unwritten(EARLY + STORE, wrapper) == []
