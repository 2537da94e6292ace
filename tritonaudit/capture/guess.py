"""What to pass for a parameter of which only its use in the kernel's body and its name are known."""

from __future__ import annotations

from typing import Any

from tritonaudit import usual
from tritonaudit.capture.evidence import STRONG, Evidence, Use
from tritonaudit.host.values import Dtype

_NO_LAUNCH = "no launch gives it"
_TILE = 64
_ROUNDS = 4


def element_dtype(name: str, use: Use, dtype: str) -> tuple[str, str]:
    """The dtype that a pointer points to, and why; `dtype` where nothing says."""
    if Evidence.TABLE in use:
        return "int64", "its elements are used as addresses"
    if use[Evidence.SMALL_INTEGER] > use[Evidence.FLOAT]:
        return "int8", "its elements are multiplied as integers"
    integer, real, truth = use[Evidence.INTEGER], use[Evidence.FLOAT], use[Evidence.BOOLEAN]
    if truth > real and truth >= integer:
        return "bool", "its elements are used as a mask"
    if integer > real and Evidence.BYTE in use:
        return "int8", "its elements are taken apart into bits of bytes"
    if integer > real and (integer > 1 or usual.is_index(name)):
        return ("int64" if usual.is_index(name) else "int32"), "its elements are used as integers"
    return dtype, "nothing says to what"


def constant_by_use(name: str, use: Use, dtype: str) -> tuple[Any, str]:
    """A value for a constexpr, and why."""
    if Evidence.DTYPE in use:
        if use[Evidence.INTEGER] > use[Evidence.FLOAT]:
            return Dtype("int32"), "what has it is used as an integer"
        return Dtype("float32" if "acc" in usual.words_of(name) else dtype), _NO_LAUNCH
    constants = [value for value in use.compared if value is not None]
    if constants and use[Evidence.TILE] < STRONG:
        return constants[0], "the kernel compares it with that"
    if Evidence.COUNT in use:
        return min(usual.number(name), _ROUNDS), _NO_LAUNCH
    if Evidence.TILE in use:
        return _TILE, _NO_LAUNCH
    if Evidence.NONE in use:
        return None, _NO_LAUNCH
    if Evidence.FLAG in use or usual.is_flag(name):
        return False, _NO_LAUNCH
    if usual.is_float(name) and not use[Evidence.INTEGER] > use[Evidence.FLOAT]:
        return 1.0, _NO_LAUNCH
    return usual.number(name), _NO_LAUNCH
