"""Which variables are set under a flag alone and used whether it holds or not."""

from __future__ import annotations

import pytest

from tests.queries.kernels import flow
from tritonaudit.kernel.flagged_names import flagged_names

LAUNCH = "def run(x, y, flag):\n    kernel[(1,)](x, y, 4, 4, 4, BLOCK=64, FLAG={flag})\n"


def found(body: str, flag: str = "flag") -> list[tuple[str, str, bool]]:
    kernel = flow(body, after=LAUNCH.format(flag=flag))
    return [
        (each.use.id, each.flag, each.value) for each in flagged_names(kernel.module, kernel.function, kernel.launches)
    ]


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("if FLAG:\n    v = 1\ntl.store(x_ptr, v)", False),
        ("if not FLAG:\n    v = 1\ntl.store(x_ptr, v)", True),
        ("if FLAG:\n    n = 2\nelse:\n    v = 1\ntl.store(x_ptr, v)", True),
        ("if FLAG:\n    v, w = 1, 2\ntl.store(x_ptr, v)", False),
        ("if FLAG:\n    v = 1\nv = v + 1\ntl.store(x_ptr, v)", False),
        ("if FLAG:\n    v = 1\nv += 1\ntl.store(x_ptr, v)", False),
        ("for i in range(n):\n    if FLAG:\n        v = 1\n    tl.store(x_ptr + i, v)\nv = 2", False),
        ("if n > m:\n    if FLAG:\n        v = 1\n    tl.store(x_ptr, v)", False),
    ],
)
def test_a_variable_of_one_arm_is_found_where_the_flag_is_not_asked_for(body: str, value: bool) -> None:
    assert found(body) == [("v", "FLAG", value)]


@pytest.mark.parametrize(
    "body",
    [
        "v = 0\nif FLAG:\n    v = 1\ntl.store(x_ptr, v)",
        "if FLAG:\n    v = 1\nelse:\n    v = 2\ntl.store(x_ptr, v)",
        "if FLAG:\n    v = 1\nif not FLAG:\n    v = 2\ntl.store(x_ptr, v)",
        "if FLAG:\n    v = 1\nif FLAG:\n    tl.store(x_ptr, v)",
        "if FLAG:\n    v = 1\nif FLAG and n > 1:\n    tl.store(x_ptr, v)",
        "if FLAG:\n    v = 1\ntl.store(x_ptr, v if FLAG else 0)",
        "if FLAG:\n    v = 1\nelse:\n    return\ntl.store(x_ptr, v)",
        "tl.static_assert(FLAG)\nif FLAG:\n    v = 1\ntl.store(x_ptr, v)",
        "if n > m:\n    v = 1\ntl.store(x_ptr, v)",
        "if FLAG:\n    n = 1\ntl.store(x_ptr, n)",
    ],
)
def test_what_is_set_either_way_or_asked_for_is_not(body: str) -> None:
    assert found(body) == []


def test_a_flag_that_every_launch_gives_is_no_question() -> None:
    body = "if FLAG:\n    v = 1\ntl.store(x_ptr, v)"
    assert found(body, "True") == []
    assert found(body, "False") == [("v", "FLAG", False)]


@pytest.mark.parametrize(("line", "value"), [("pass", [("v", "FLAG", False)]), ("n = y.numel()", [])])
def test_a_flag_of_a_tensor_that_the_wrapper_needs_is_never_false(
    line: str, value: list[tuple[str, str, bool]]
) -> None:
    launch = f"def run(x, y):\n    {line}\n    kernel[(1,)](x, y, 4, 4, 4, BLOCK=64, FLAG=y is not None)\n"
    kernel = flow("if FLAG:\n    v = 1\ntl.store(x_ptr, v)", after=launch)
    names = flagged_names(kernel.module, kernel.function, kernel.launches)
    assert [(each.use.id, each.flag, each.value) for each in names] == value


def test_each_flag_is_reported_once() -> None:
    assert len(found("if FLAG:\n    v = 1\n    w = 2\ntl.store(x_ptr, v)\ntl.store(x_ptr, w)")) == 1
