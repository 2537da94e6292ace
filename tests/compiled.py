"""Compiled kernels made by hand, with figures as real compilers gave them; only what matters to a test is said."""

from __future__ import annotations

from typing import Any

from tritonaudit.compile.facts import AccessKind, Cause, CompiledKernel, LineAccess, Narrow, Resources, Variant
from tritonaudit.finding import Span

PATH = "kernels/softmax.py"
SIGNATURE = (("x_ptr", "*fp16"), ("out_ptr", "*fp16"), ("stride", "i32"), ("n", "i32"), ("BLOCK", "constexpr"))


def resources(**said: Any) -> Resources:
    usual: dict[str, Any] = {
        "registers": 20,
        "spill_stores": 0,
        "spill_loads": 0,
        "stack": 0,
        "local": 0,
        "shared": 32,
        "warps": 4,
        "stages": 3,
    }
    return Resources(**usual | said)


def variant(target: str = "sm_90", config: str = "", *cases: str, **said: Any) -> Variant:
    """A variant that compiled, unless an error is said; what `Resources` has may be said too."""
    needs = {name: said.pop(name) for name in Resources.__dataclass_fields__ if name in said}
    usual: dict[str, Any] = {
        "signature": SIGNATURE,
        "resources": None if "error" in said else resources(**needs),
    }
    return Variant(target, config, cases, **usual | said)


def kernel(*variants: Variant, **said: Any) -> CompiledKernel:
    usual: dict[str, Any] = {"path": PATH, "name": "softmax_kernel", "span": Span(6, 5, 6, 19)}
    return CompiledKernel(**usual | said, variants=variants)


def access(line: int, *widths: tuple[int, int], kind: AccessKind = AccessKind.LOAD, path: str = PATH) -> LineAccess:
    """The accesses of a line: pairs of bytes per lane and number of instructions."""
    return LineAccess(path, Span(line, 9, line, 30), kind, widths)


def narrow(access: LineAccess, could_be: int = 16, cause: Cause = Cause.STRIDE, *arguments: str) -> Narrow:
    return Narrow(access, access.narrowest, could_be, cause, arguments or ("stride",))
