"""The faults that are put into the functions that launch kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import libcst as cst

from bench.mutation.in_kernels import Operator
from bench.mutation.sites import Site, argument, code, is_launch, name_of, names_in


def grid_rounded_down(site: Site) -> Iterator[str]:
    if name_of(site.node) == "triton.cdiv":
        count, block = (code(one.value) for one in site.node.args)
        yield f"{count} // {block}"


def grid_too_small(site: Site) -> Iterator[cst.CSTNode]:
    if _is_of_grid(site):
        yield site.node.with_changes(value=cst.parse_expression(f"{code(site.node.value)} - 1"))


def grid_factor_dropped(site: Site) -> Iterator[str]:
    is_product = isinstance(site.node, cst.BinaryOperation) and isinstance(site.node.operator, cst.Multiply)
    if is_product and any(isinstance(node, cst.Element) for node in site.above):
        yield code(site.node.left)
        yield code(site.node.right)


def grid_axes_swapped(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.Tuple) and len(site.node.elements) == 2 and _is_of_grid_tuple(site):
        first, second = (code(one.value) for one in site.node.elements)
        yield f"{second}, {first}"


def _is_of_grid(site: Site) -> bool:
    return isinstance(site.node, cst.Element) and _is_of_grid_tuple(Site(site.parent, site.function, site.above[1:]))


def _is_of_grid_tuple(site: Site) -> bool:
    """Whether a tuple is the grid of a launch, or what a function returns for one inside a wrapper."""
    if not isinstance(site.node, cst.Tuple):
        return False
    is_in_brackets = isinstance(site.parent, cst.Index) and is_launch(site.above[3])
    return is_in_brackets or any(isinstance(node, cst.FunctionDef) for node in site.above)


def stride_of_other_dimension(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.Call) and site.launch is not None:
        text = code(site.node)
        if text.endswith((".stride(0)", ".stride(1)")):
            yield text[:-2] + str(1 - int(text[-2])) + ")"


def taken_for_contiguous(site: Site) -> Iterator[str]:
    """Strides as if the tensor had been copied."""
    if isinstance(site.node, cst.Attribute) and site.node.attr.value == "stride" and site.launch is not None:
        tensor = code(site.node.value)
        if "torch.empty" not in site.function.assigned.get(tensor, ""):
            yield f"{tensor}.contiguous().stride"


def copy_dropped(site: Site) -> Iterator[str]:
    """A tensor that is not contiguous is given to the kernel as it is."""
    text = code(site.node) if isinstance(site.node, cst.Call) else ""
    if text.endswith(".contiguous()"):
        yield text.removesuffix(".contiguous()")


def arguments_swapped(site: Site) -> Iterator[cst.CSTNode]:
    """Two neighbours that are both names, or both strides."""
    if not is_launch(site.node):
        return
    args = site.node.args
    for place, (first, second) in enumerate(pairwise(args)):
        is_alike = type(first.value) is type(second.value) and isinstance(first.value, (cst.Name, cst.Call))
        if is_alike and first.keyword is None and second.keyword is None and not first.star:
            changed = list(args)
            changed[place] = first.with_changes(value=second.value)
            changed[place + 1] = second.with_changes(value=first.value)
            yield site.node.with_changes(args=changed)


def size_off_by_one(site: Site) -> Iterator[cst.CSTNode]:
    if isinstance(site.node, cst.Arg) and site.parent is site.launch and isinstance(site.node.value, cst.Name):
        name = site.node.value.value
        is_tensor = name in site.function.parameters or "torch." in site.function.assigned.get(name, "")
        if site.node.keyword is None and not is_tensor:
            for change in ("- 1", "+ 1"):
                yield site.node.with_changes(value=cst.parse_expression(f"{name} {change}"))


def block_halved(site: Site) -> Iterator[cst.CSTNode]:
    """The kernel's block is smaller than the grid is made for."""
    is_keyword = isinstance(site.node, cst.Arg) and site.parent is site.launch and site.node.keyword is not None
    if is_keyword and code(site.node.value) in names_in(site.parent.func):
        yield site.node.with_changes(value=cst.parse_expression(f"{code(site.node.value)} // 2"))


def buffer_not_cleared(site: Site) -> Iterator[str]:
    if name_of(site.node) == "torch.zeros":
        yield code(site.node).replace("torch.zeros", "torch.empty", 1)


def buffer_in_half(site: Site) -> Iterator[str]:
    if code(site.node) == "torch.float32":
        yield "torch.float16"


def result_of_other_type(site: Site) -> Iterator[cst.CSTNode]:
    dtype = argument(site.node, "dtype") if isinstance(site.node, cst.Call) else None
    if dtype is not None and code(dtype.value).endswith(".dtype"):
        yield site.node.deep_replace(dtype.value, cst.parse_expression("torch.float32"))


def constant_changed(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.Float):
        yield repr(float(site.node.value) * 2)


OPERATORS: Sequence[Operator] = (
    grid_rounded_down,
    grid_too_small,
    grid_factor_dropped,
    grid_axes_swapped,
    stride_of_other_dimension,
    taken_for_contiguous,
    copy_dropped,
    arguments_swapped,
    size_off_by_one,
    block_halved,
    buffer_not_cleared,
    buffer_in_half,
    result_of_other_type,
    constant_changed,
)
