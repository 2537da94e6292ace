"""Which functions of a module launch kernels, and which of them a user calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.subject.wrappers import COPY, host_of

LAUNCH = "    kernel[(1,)](x, x, 1, BLOCK=64)\n"


def names(code: str) -> list[str]:
    return [wrapper.name for wrapper in host_of(COPY + code).wrappers()]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n" + LAUNCH,
        "def f(x):\n    return kernel[(1,)](x, x, 1, 64)\n",
        "def f(x):\n    grid = lambda meta: (1,)\n    for _ in range(2):\n        kernel[grid](x, x, 1, 64)\n",
        "def f(x):\n    run = kernel\n    run[(1,)](x, x, 1, 64)\n",
        "def f(x):\n    run = triton.autotune(configs=[], key=[])(kernel)\n    run[(1,)](x, x, 1, 64)\n",
        "tuned = triton.autotune(configs=[], key=[])(kernel)\n\n\ndef f(x):\n    tuned[(1,)](x, x, 1, 64)\n",
        "def f(x):\n    wrap_triton(kernel)[(1,)](x, x, 1, 64)\n",
        "def f(x):\n    def inner():\n        kernel[(1,)](x, x, 1, 64)\n    inner()\n",
        "if True:\n    def f(x):\n        kernel[(1,)](x, x, 1, 64)\n",
        "def f(x):\n    (kernel if x.is_cuda else kernel)[(1,)](x, x, 1, 64)\n",
    ],
)
def test_a_launch_makes_a_wrapper(code: str) -> None:
    assert names(code) == ["f"]


@pytest.mark.parametrize(
    "code",
    [
        "def f(x):\n    return x\n",
        "def f(x):\n    return table[0](x)\n",
        "def test_f(x):\n" + LAUNCH,
        "def benchmark_f(x):\n" + LAUNCH,
        "def f():\n    x = 1\n" + LAUNCH,
        "def f(*args):\n    kernel[(1,)](*args)\n",
        "@pytest.mark.parametrize('x', [1])\ndef f(x):\n" + LAUNCH,
        "kernel[(1,)](1, 2, 3, 64)\n",
    ],
)
def test_what_is_no_wrapper(code: str) -> None:
    assert names(code) == []


def test_a_kernel_that_a_decorator_made_callable_is_launched_by_a_call() -> None:
    code = "@pointwise\n@triton.jit\ndef double(x):\n    return x * 2\n\n\ndef f(x):\n    return double(x)\n"
    assert names(code) == ["f"]


def test_a_kernel_of_another_file_is_launched_too(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text("import triton\nimport triton.language as tl\n" + COPY)
    code = "from kernels import kernel\n\n\ndef f(x):\n" + LAUNCH
    (wrapper,) = host_of(code, tmp_path / "ops.py").wrappers()
    assert (wrapper.name, wrapper.kernels) == ("f", ("kernel",))


def test_public_functions_lead_to_private_ones() -> None:
    assert names("def f(x):\n    _g(x)\n\n\ndef _g(x):\n" + LAUNCH) == ["f"]
    assert names("def f(x):\n    pass\n\n\ndef _g(x):\n" + LAUNCH) == ["_g"]


# -- autograd ------------------------------------------------------------------------------------------------------

AUTOGRAD = """\
def forward(x):
    kernel[(1,)](x, x, 1, BLOCK=64)


def backward(x, saved):
    kernel[(1,)](x, x, 1, BLOCK=64)


class CopyFunction(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        forward(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        {backward}


"""
COMPLETE = AUTOGRAD.format(backward="return backward(grad, ctx.saved)")


def test_a_function_that_calls_autograd_stands_for_all_of_it() -> None:
    (wrapper,) = host_of(COPY + COMPLETE + "def copy(x):\n    return CopyFunction.apply(x)\n").wrappers()
    assert (wrapper.name, wrapper.gradients, wrapper.skips_context) == ("copy", True, False)


def test_without_one_it_is_called_by_apply() -> None:
    (wrapper,) = host_of(COPY + COMPLETE).wrappers()
    assert (wrapper.name, wrapper.gradients, wrapper.skips_context) == ("CopyFunction.apply", True, True)


def test_a_public_name_of_apply_is_how_it_is_called() -> None:
    (wrapper,) = host_of(COPY + COMPLETE + "copy = CopyFunction.apply\n").wrappers()
    assert (wrapper.name, wrapper.gradients, wrapper.skips_context) == ("copy", True, True)


def test_a_backward_that_refuses_gives_no_gradients() -> None:
    refusing = AUTOGRAD.format(backward="raise NotImplementedError")
    found = {wrapper.name: wrapper.gradients for wrapper in host_of(COPY + refusing).wrappers()}
    assert found == {"backward": False, "CopyFunction.apply": False}


def test_a_module_may_hold_kernels_and_no_wrapper_but_methods() -> None:
    host = host_of(COPY + "class Op:\n    def __call__(self, x):\n        kernel[(1,)](x, x, 1, 64)\n")
    assert host.wrappers() == ()
    assert host.methods_that_launch == ["Op.__call__"]
