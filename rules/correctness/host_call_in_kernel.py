"""TAC108: a kernel calls what belongs to the host: Python's functions, another library's, a plain function."""

from __future__ import annotations

from collections.abc import Iterator

from tritonaudit.domains.facts import KernelFlow
from tritonaudit.finding import Confidence, Severity
from tritonaudit.ir.hits import Words, hit
from tritonaudit.ir.mistakes import Mistake, MistakeKind
from tritonaudit.rule import Hit, Rule

_BUILTINS = {
    "abs": "use `tl.abs`", "sum": "use `tl.sum`", "pow": "multiply, or use `libdevice.pow`",
    "round": "use `libdevice.rint`", "bool": "compare: `x != 0`", "divmod": "use `//` and `%`",
    "enumerate": "count with `tl.static_range`", "zip": "index the tuples with `tl.static_range`",
    "any": "use `tl.max(x.to(tl.int32), 0)`", "all": "use `tl.min(x.to(tl.int32), 0)`",
    "type": "compare dtypes: `x.dtype == tl.float32`", "sorted": "use `tl.sort`",
}  # fmt: skip
_MATH = {"fabs": "abs", "sqrt": "sqrt", "exp": "exp", "log": "log", "log2": "log2", "sin": "sin", "cos": "cos",
         "erf": "erf", "floor": "floor", "ceil": "ceil", "exp2": "exp2"}  # fmt: skip

_WORDS = {
    (MistakeKind.HOST_FUNCTION, "plain"): Words(
        "`{name}` is a plain Python function, which a kernel cannot call", "decorate it with `@triton.jit`"
    ),
    (MistakeKind.HOST_FUNCTION, "math"): Words(
        "a kernel cannot call `{name}`", "compute the number on the host, and pass it"
    ),
    (MistakeKind.HOST_LIBRARY, "torch"): Words(
        "`{text}` is a function of PyTorch, which a kernel cannot call", "use what `tl` has instead"
    ),
    (MistakeKind.HOST_LIBRARY, "numpy"): Words(
        "`{text}` is a function of NumPy, which a kernel cannot call", "use what `tl` has instead"
    ),
    (MistakeKind.HOST_LIBRARY, "number"): Words("`{text}` makes a NumPy number, which a kernel does not accept",
                                         "write the number itself"),
    (MistakeKind.CONVERSION, "int"): Words("`int(…)` of `{text}`, which is {type}", "cast it: `.to(tl.int32)`"),
    (MistakeKind.CONVERSION, "float"): Words("`float(…)` of `{text}`, which is {type}", "cast it: `.to(tl.float32)`"),
    (MistakeKind.CONVERSION, "len"): Words("`len(…)` of `{text}`, which is {type}", "use `{text}.shape[0]`"),
    (MistakeKind.NOT_CONSTANT_CALL, "triton.cdiv"): Words(
        "`triton.cdiv` in a kernel takes only constants, and `{text}` has a run-time argument", "use `tl.cdiv`"
    ),
    (MistakeKind.NOT_CONSTANT_CALL, "*"): Words(
        "`{name}` in a kernel takes only constants, and `{text}` has a run-time argument",
        "compute it on the host, and pass it as a `tl.constexpr`",
    ),
    (MistakeKind.LAUNCH_INSIDE, "grid"): Words(
        "`{name}` is launched inside a kernel", "call it as a function, with no grid"
    ),
    (MistakeKind.LAUNCH_INSIDE, "autotuned"): Words(
        "`{name}` is autotuned, and a kernel cannot call it", "call a function that has only `@triton.jit`"
    ),
    (MistakeKind.CALL, "one"): Words(
        "Python's `{name}` takes two or more values, and `{text}` is one", "use `tl.{name}`"
    ),
    (MistakeKind.CALL, "prefix"): Words(
        "the first argument of `{name}` must be a string, not `{text}`", 'begin with one: `{name}("x", {text})`'
    ),
}  # fmt: skip


class HostCallInKernel(Rule):
    code, name = "TAC108", "host-call-in-kernel"
    summary = "A kernel calls a host function, which Triton does not compile."
    severity, confidence, since = Severity.ERROR, Confidence.HIGH, "0.1"

    def check(self, kernel: KernelFlow) -> Iterator[Hit]:
        for mistake in kernel.mistakes:
            words = _WORDS.get((mistake.kind, mistake.what)) or _WORDS.get((mistake.kind, "*")) or _special(mistake)
            if words is not None:
                yield hit(kernel, mistake, words)


def _special(mistake: Mistake) -> Words | None:
    name = str(mistake.words.get("name"))
    if mistake.kind is MistakeKind.PYTHON_BUILTIN:
        remedy = _BUILTINS.get(name, "use what `tl` has instead")
        return Words("`{name}` is a Python function, which kernels do not have", remedy)
    if mistake.kind is MistakeKind.HOST_MATH:
        remedy = f"use `tl.{_MATH[name]}`" if name in _MATH else f"use `libdevice.{name}`"
        return Words("`{text}` calls Python's `math` with a value of the kernel", remedy)
    return None
