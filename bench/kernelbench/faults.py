"""Known faults, each put into a file that has none by edits of its text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.kernelbench.kernels import Kernel, Shape

_EVERYWHERE = frozenset(Shape)
_ROWS = frozenset((Shape.ROWS, Shape.SUMS))


@dataclass(frozen=True)
class Fault:
    """A fault by its name, what it is, how it gets into a file's text, and the shapes of kernels that can have it."""

    name: str
    meaning: str
    put: Callable[[Kernel, str], str]
    shapes: frozenset[Shape] = _EVERYWHERE


def edited(text: str, old: str, new: str, *, first: bool = False) -> str:
    """A text with something else in the one place where that is, or in the first of them."""
    assert text.count(old) == 1 or (first and old in text), (old, text)
    return text.replace(old, new, 1)


def launch_of(kernel: Kernel) -> str:
    """How a pair's model launches its kernel."""
    return f"launch({_inputs(kernel)})"


def _inputs(kernel: Kernel) -> str:
    return "x, y" if kernel.shape is Shape.PRODUCT else "x"


def _tail(kernel: Kernel, text: str) -> str:
    limit = {Shape.ELEMENTS: "offsets < n", Shape.PRODUCT: "(row < rows) & (offsets < cols)"}
    old = f"    mask = {limit.get(kernel.shape, 'offsets < cols')}\n"
    shorter = old.replace("offsets < n\n", "offsets < n - 1\n").replace("offsets < cols", "offsets < cols - 1")
    return edited(text, old, shorter)


def _operation(kernel: Kernel, text: str) -> str:
    if kernel.shape is Shape.PRODUCT:
        return edited(text, f" + offsets, {kernel.formula}, mask", f" + offsets, {kernel.wrong}, mask")
    return edited(text, f"    y = {kernel.formula}\n", f"    y = {kernel.wrong}\n")


def _nan(kernel: Kernel, text: str) -> str:
    bad = 'tl.where({0} > 1.5, float("nan"), {0})'
    if kernel.shape is Shape.PRODUCT:
        return edited(text, "        acc += tl.dot(a,", f"        a = {bad.format('a')}\n        acc += tl.dot(a,")
    return edited(text, "    y = ", f"    x = {bad.format('x')}\n    y = ")


def _half(kernel: Kernel, text: str) -> str:
    if kernel.shape is Shape.PRODUCT:
        text = edited(text, "dtype=tl.float32)", "dtype=tl.float16)")
        return edited(text, 'input_precision="ieee")', 'input_precision="ieee").to(tl.float16)')
    return edited(text, ".to(tl.float32)", ".to(tl.float16)")


def _no_mask(kernel: Kernel, text: str) -> str:
    body = text.replace(", mask=mask", "")
    if kernel.shape is Shape.PRODUCT:
        return body.replace("mask=(row < rows) & (across < inner), ", "mask=(row < rows), ")
    return body.replace(f", other={kernel.padding}", "")


def _short_grid(kernel: Kernel, text: str) -> str:
    grids = {Shape.ELEMENTS: "(triton.cdiv(n, 256),)", Shape.PRODUCT: "(triton.cdiv(rows, 32), "}
    old = grids.get(kernel.shape, "(rows,)")
    new = {Shape.ELEMENTS: "(n // 256,)", Shape.PRODUCT: "(rows // 32, "}.get(kernel.shape, "(rows - 1,)")
    return edited(text, old, new)


def _in_place(kernel: Kernel, text: str) -> str:
    return edited(text, "out = torch.empty_like(x)", "out = x")


def _hang(kernel: Kernel, text: str) -> str:
    waiting = "    seen = tl.atomic_add(lock_ptr, 0)\n    while seen == 0:\n        seen = tl.atomic_add(lock_ptr, 0)\n"
    text = edited(text, "def kernel(", "def kernel(lock_ptr, ")
    head, colon, body = text.partition("tl.constexpr):\n")
    lock = "torch.zeros(1, dtype=torch.int32, device=x.device)"
    return edited(head + colon + waiting + body, "](x, ", f"]({lock}, x, ")


def _does_not_compile(kernel: Kernel, text: str) -> str:
    if kernel.shape is Shape.PRODUCT:
        return edited(text, "across = start + tl.arange(0, DEPTH)[None, :]", "across = start + tl.arange(0, DEPTH)[0]")
    return edited(text, "tl.arange(0, BLOCK)", "tl.arange(0, BLOCK + 1)")


def _raises(kernel: Kernel, text: str) -> str:
    if kernel.shape is Shape.PRODUCT:
        return edited(text, "x.contiguous(), y.contiguous()", "x.contiguous(), y.no_such_method()")
    return edited(text, "x.contiguous()", "x.no_such_method()")


def _dies(kernel: Kernel, text: str) -> str:
    return edited("import os\n\n" + text, "    return out\n", "    os.abort()\n    return out\n")


def _torch_work(kernel: Kernel, text: str) -> str:
    beside = f"        {launch_of(kernel)}\n        return {kernel.torch}\n"
    return edited(text, f"        return {launch_of(kernel)}\n", beside)


def _no_kernel(kernel: Kernel, text: str) -> str:
    return edited(text, f"        return {launch_of(kernel)}\n", f"        return {kernel.torch}\n")


def _cached(kernel: Kernel, text: str) -> str:
    kept = f"""\
        if not hasattr(self, "kept"):
            self.kept = {launch_of(kernel)}
        return self.kept
"""
    return edited(text, f"        return {launch_of(kernel)}\n", kept)


FAULTS = (
    Fault("tail", "the last element is left out", _tail),
    Fault("operation", "another formula", _operation),
    Fault("torch", "torch does the work, beside a launch", _torch_work),
    Fault("cached", "the first result is kept", _cached),
    Fault("nan", "NaN for some inputs", _nan),
    Fault("half", "float16 where float32 is needed", _half, _ROWS | {Shape.PRODUCT}),
    Fault("no mask", "accesses out of bounds", _no_mask),
    Fault("raises", "the wrapper raises", _raises),
    Fault("dies", "the process is aborted", _dies),
    Fault("hang", "the kernel waits for ever", _hang),
    Fault("no kernel", "nothing is launched", _no_kernel),
    Fault("short grid", "a program too few", _short_grid),
    Fault("in place", "the input is overwritten", _in_place, frozenset((Shape.ELEMENTS, Shape.ROWS))),
    Fault("rejected", "does not compile", _does_not_compile),
)
