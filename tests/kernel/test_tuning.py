"""What the decorators of a kernel say."""

from __future__ import annotations

from textwrap import dedent

from tritonaudit.kernel.launch import launches_of
from tritonaudit.kernel.tuning import Autotune, Decorator, Heuristics, Jit, Other, computes, decorators
from tritonaudit.source.outline import outline

_HEAD = "import triton\nimport triton.language as tl\nfrom elsewhere import wrapped\n\n"


def read(above: str) -> tuple[Decorator, ...]:
    """The decorators of a kernel that stands below these lines."""
    module = outline("kernels.py", _HEAD + dedent(above) + "def kernel(x_ptr, n, BLOCK: tl.constexpr):\n    pass\n")
    return decorators(module, module.jit[0])


def test_configs_have_constants_and_options() -> None:
    autotune, jit = read(
        """\
        @triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=4), triton.Config({"BLOCK": 128})], key=["n"])
        @triton.jit
        """
    )
    assert isinstance(autotune, Autotune)
    assert isinstance(jit, Jit)
    assert autotune.whole
    assert autotune.tuned == {"BLOCK"}
    assert [sorted(config.options) for config in autotune.configs] == [["num_warps"], []]
    assert [name for name, _ in autotune.names("key")] == ["n"]


def test_configs_that_are_computed_are_not_known() -> None:
    autotune, *_ = read("@triton.autotune([triton.Config({'BLOCK': b}) for b in (64, 128)], ['n'])\n@triton.jit\n")
    assert isinstance(autotune, Autotune)
    assert not autotune.whole
    assert autotune.tuned == frozenset()
    assert [name for name, _ in autotune.names("key")] == ["n"]


def test_only_what_every_config_sets_is_tuned() -> None:
    autotune, *_ = read(
        """\
        @triton.autotune([triton.Config({"BLOCK": 64, "STEPS": 2}), triton.Config({"BLOCK": 128})], ["n"])
        @triton.jit
        """
    )
    assert isinstance(autotune, Autotune)
    assert autotune.tuned == {"BLOCK"}


def test_heuristics_may_hold_more_than_the_text_shows() -> None:
    shown, spread, _ = read(
        """\
        @triton.heuristics({"EVEN": lambda args: True})
        @triton.heuristics({"EVEN": lambda args: True, **MORE})
        @triton.jit
        """
    )
    assert isinstance(shown, Heuristics)
    assert isinstance(spread, Heuristics)
    assert (shown.whole, spread.whole) == (True, False)


def test_a_decorator_of_another_project_is_not_looked_into() -> None:
    assert [type(one) for one in read("@wrapped(configs=[])\n@triton.jit\n")] == [Other, Jit]


def test_a_launch_passes_what_the_heuristic_computes_of_the_same_arguments() -> None:
    text = dedent(
        """
        @triton.heuristics({"FLAG": lambda args: args["x_ptr"] is not None})
        @triton.jit
        def kernel(x_ptr, FLAG: tl.constexpr):
            pass

        def same(x):
            kernel[(1,)](x, FLAG=x is not None)

        def other(x, y):
            flag = y is not None
            kernel[(1,)](x, FLAG=flag)
        """
    )
    module = outline("kernels.py", _HEAD + text)
    heuristics, _ = decorators(module, module.jit[0])
    assert isinstance(heuristics, Heuristics)
    found = [computes(heuristics.values["FLAG"], launch, "FLAG") for launch in launches_of(module)[module.jit[-1]]]
    assert found == [True, False]
