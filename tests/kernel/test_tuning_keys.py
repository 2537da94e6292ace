"""Flags that one key of a file lacks."""

from __future__ import annotations

import pytest

from tritonaudit.kernel.tuning_keys import missing_flags
from tritonaudit.source.outline import outline

_HEAD = "import triton\nimport triton.language as tl\n\n"
_KERNEL = """\
@triton.heuristics({{"FLAG": lambda args: {flag}}})
@triton.autotune([triton.Config({{"BLOCK": 64}})], key={key})
@triton.jit
def kernel_{number}(x_ptr, n, FLAG: tl.constexpr, BLOCK: tl.constexpr):
    if {test}:
        pass


"""


def missing(*keys: str, test: str = "FLAG", flag: str = 'args["n"] > 4096') -> list[tuple[int, str]]:
    """The kernels whose keys lack a flag, by number."""
    kernels = (_KERNEL.format(key=key, number=number, test=test, flag=flag) for number, key in enumerate(keys))
    module = outline("/nowhere/m.py", _HEAD + "".join(kernels))
    return [(number, found.flag) for number, jit in enumerate(module.jit) for found in missing_flags(module, jit)]


def test_the_one_key_that_lacks_a_flag_is_found() -> None:
    assert missing("['n', 'FLAG']", "['n']", "['FLAG']") == [(1, "FLAG")]


@pytest.mark.parametrize(
    "keys", [("['n']", "['n', 'FLAG']"), ("['n']", "['n']", "['FLAG']", "['FLAG']"), ("KEYS", "['FLAG']", "['FLAG']")]
)
def test_too_few_others_or_a_second_one_say_nothing(keys: tuple[str, ...]) -> None:
    assert missing(*keys) == []


def test_a_flag_that_decides_nothing_is_not_missed() -> None:
    assert missing("['n', 'FLAG']", "['n']", "['FLAG']", test="n > 1") == []


def test_triton_tells_apart_by_itself_whether_a_tensor_is_given() -> None:
    assert missing("['n', 'FLAG']", "['n']", "['FLAG']", flag='args["x_ptr"] is not None') == []
