"""Tensors whose elements a kernel looks for without the strides that they have."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.queries.kernels import IMPORTS, PARAMETERS, flow
from tritonaudit.domains.analysis import NotAnalysed, analyse
from tritonaudit.kernel.project import Project
from tritonaudit.queries.strides import misaddressed
from tritonaudit.source.outline import outline
from tritonaudit.target import DEFAULT, Target

ROWS = (
    "offsets = tl.program_id(0) * {stride} + tl.arange(0, BLOCK)\ntl.store(y_ptr + offsets, tl.load(x_ptr + offsets))"
)
BACKWARD = """
class F(torch.autograd.Function):
    @staticmethod
    def backward(ctx, dy):
        {line}
        y = torch.empty(8, 8)
        kernel[(8,)](dy, y, 1, 2, {stride}, BLOCK=64, FLAG=True)
        return y
"""
HELPER = """
def helper(g, n):
    y = torch.empty(8, 8)
    kernel[(8,)](g, y, n, 2, 3, BLOCK=64, FLAG=True)
    return y


class F(torch.autograd.Function):
    @staticmethod
    def backward(ctx, dy):
        return helper({passed}, 1)
"""
WRAPPER = """
{decorator}
def wrapper(x{more}):
    {line}
    kernel[(8,)](x, y, 1, 2, {stride}, BLOCK=64, FLAG=True)
    return y
"""


def found(wrapper: str, body: str = ROWS.format(stride="n")) -> list[tuple[str | None, str | None]]:
    """Each tensor that is addressed otherwise: whose strides these are, and what it is a gradient of."""
    return [(each.owner, each.gradient) for each in misaddressed(flow(body, before="import torch", after=wrapper))]


def test_a_gradient_as_it_comes() -> None:
    assert found(BACKWARD.format(line="pass", stride="3")) == [(None, "dy")]
    assert found(BACKWARD.format(line="dy = dy.reshape(-1, 8)", stride="3")) == [(None, "dy")]


def test_a_gradient_by_the_strides_of_what_was_saved() -> None:
    wrapper = BACKWARD.format(line="(x,) = ctx.saved_tensors", stride="x.stride(0)")
    assert found(wrapper, ROWS.format(stride="stride")) == [("x", "dy")]


def test_a_gradient_that_a_helper_launches_on() -> None:
    assert found(HELPER.format(passed="dy")) == [(None, "dy")]
    assert found(HELPER.format(passed="dy.contiguous()")) == []
    assert found(HELPER.format(passed="dy * 2")) == []


@pytest.mark.parametrize(
    "line",
    [
        "dy = dy.contiguous()",
        "assert dy.is_contiguous()",
        "assert dy.stride(-1) == 1",
        "dy = maybe_contiguous(dy)",
        "dy, z = map(contiguous, (dy, z))",
        "dy, z = [t.contiguous() for t in (dy, z)]",
        "dy = dy.float()",
    ],
)
def test_the_backward_pass_may_see_to_it(line: str) -> None:
    assert found(BACKWARD.format(line=line, stride="3")) == []


def test_another_tensor_that_is_made_contiguous_changes_nothing() -> None:
    assert found(BACKWARD.format(line="x = ctx.x.contiguous()", stride="3")) == [(None, "dy")]


def test_a_gradient_with_strides_of_its_own_or_of_one_number() -> None:
    wrapper = BACKWARD.format(line="pass", stride="dy.stride(0)")
    rows = flow(
        "tl.store(y_ptr, tl.load(x_ptr + tl.program_id(0) * stride + tl.arange(0, BLOCK)))", "import torch", wrapper
    )
    assert [each.partly for each in misaddressed(rows)] == [True]
    assert found(wrapper, "tl.store(y_ptr, tl.load(x_ptr + tl.program_id(0) * stride))") == []
    assert found(wrapper, "tl.store(y_ptr, tl.load(x_ptr))") == []


GUARDED = """
import functools


def guard(fn=None, *, leave=False):
    def decorator(fn):
        names = list(inspect.signature(fn).parameters.keys())
        left = set(leave) if isinstance(leave, (list, tuple, set)) else {left}

        @functools.wraps(fn)
        def wrapper(*args, **kwargs):
            made = []
            for i, arg in enumerate(args):
                made.append(arg.contiguous() if isinstance(arg, torch.Tensor) and names[i] not in left else arg)
            return fn(*made, **kwargs)

        return wrapper

    return decorator if fn is None else decorator(fn)


class F(torch.autograd.Function):
    @staticmethod
    {guard}
    def backward(ctx, dy):
        y = torch.empty(8, 8)
        kernel[(8,)](dy, y, 1, 2, 3, BLOCK=64, FLAG=True)
        return y
"""


@pytest.mark.parametrize(
    ("left", "guard", "expected"),
    [
        ("set()", "@guard", []),
        ("set()", "@guard(leave=False)", []),
        ("SOME", "@guard", []),
        ("set()", "# @guard", [(None, "dy")]),
    ],
    ids=["an empty set", "called", "a set that is not known", "without"],
)
def test_a_decorator_makes_gradients_contiguous(left: str, guard: str, expected: list[tuple[None, str]]) -> None:
    assert found(GUARDED.replace("{left}", left).replace("{guard}", guard)) == expected


def test_a_new_output_by_the_strides_of_an_input() -> None:
    body = ROWS.format(stride="stride")
    given = {"more": "", "decorator": "", "stride": "x.stride(0)"}
    assert found(WRAPPER.format(line="y = torch.empty_like(x)", **given), body) == [("x", None)]
    assert found(WRAPPER.format(line="y = x.clone()", **given), body) == []
    assert found(WRAPPER.format(line="x = x.contiguous(); y = torch.empty_like(x)", **given), body) == []
    assert found(WRAPPER.format(line="x = x + 1; y = torch.empty_like(x)", **given), body) == []
    given["decorator"] = "@guarded"
    assert found(WRAPPER.format(line="y = torch.empty_like(x)", **given), body) == []


def test_an_input_by_the_strides_of_another() -> None:
    body = ROWS.format(stride="stride")
    wrapper = WRAPPER.format(line="pass", more=", y", decorator="", stride="x.stride(0)")
    assert found(wrapper, body) == [("x", None)]
    assert found(wrapper + "\n\ndef run(x):\n    wrapper(x + 1, x)\n", body) == []
    assert found(wrapper + "\n\ndef run(x, y):\n    wrapper(x, y)\n", body) == [("x", None)]


def test_a_stride_that_the_caller_gives_may_be_anyones() -> None:
    wrapper = WRAPPER.format(line="pass", more=", y, stride", decorator="", stride="stride")
    assert found(wrapper, ROWS.format(stride="stride")) == []


@pytest.mark.parametrize(("strides", "expected"), [("(n, 1)", [(None, "dy")]), ("(stride, stride)", [])])
def test_block_pointers_have_strides_of_their_own(strides: str, expected: list[tuple[None, str]]) -> None:
    pointer = f"p = tl.make_block_ptr(x_ptr, (n, m), {strides}, (0, 0), (BLOCK, BLOCK), (1, 0))"
    body = f"{pointer}\ntl.store(y_ptr + tl.arange(0, BLOCK)[:, None], tl.load(p))"
    assert found(BACKWARD.format(line="pass", stride="dy.stride(0)"), body) == expected


@pytest.mark.parametrize(
    ("caller", "is_found"),
    [
        ("def use(a):\n    return wrapper(a)", True),
        ("def use(a):\n    a = a.contiguous()\n    return wrapper(a)", False),
        ("def use(a):\n    return wrapper(x=a.contiguous())", False),
        ("def use(a):\n    a = a.contiguous()\n    return chosen(a)", False),
        ("def use(a):\n    a.contiguous()\n    return wrapper(a)\ndef other(a):\n    return wrapper(a)", True),
        ("def use(a):\n    return wrapper", True),
        ("this is no Python: wrapper(", True),
    ],
)
def test_callers_in_neighbouring_files_see_to_the_layout(tmp_path: Path, caller: str, is_found: bool) -> None:
    body = textwrap.indent(ROWS.format(stride="stride"), "    ")
    wrapper = WRAPPER.format(decorator="", more="", line="y = torch.empty_like(x)", stride="x.stride(0)")
    text = f"import torch\n{IMPORTS}@triton.jit\ndef kernel({PARAMETERS}):\n{body}\n\n{wrapper}\nchosen = wrapper\n"
    (tmp_path / "m.py").write_text(text)
    (tmp_path / "caller.py").write_text(f"from .m import wrapper, chosen\n\n\n{caller}\n")
    kernels = analyse(outline(str(tmp_path / "m.py"), text), Project(tmp_path), Target.parse(DEFAULT))
    (kernel,) = (found for found in kernels if not isinstance(found, NotAnalysed))
    assert bool(list(misaddressed(kernel))) == is_found
