"""The faults that safe fixes remove, put into kernels that are right: each an edit by what its rule says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from bench.judge.faults.operators import cast_before_product, mask_dropped
from bench.mutation.sites import Function, argument, code

Change = tuple[cst.CSTNode, cst.CSTNode]
"""A node of a function, and what stands in its place."""


@dataclass(frozen=True)
class Seed:
    """What finds the places of a fault in a kernel, and the rule that is to tell of it.

    Most kernels have places of a common one.
    """

    rule: str
    changes: Callable[[Function], Iterator[Change]]
    is_common: bool = False

    @property
    def name(self) -> str:
        return self.changes.__name__


def unmasked(function: Function) -> Iterator[Change]:
    """TAM101: an access without the mask that another one of the same kernel has."""
    masks = [code(one.value) for node in function.nodes if (one := _argument(node, "mask")) is not None]
    for site in function.sites:
        mask = _argument(site.node, "mask")
        if mask is not None and masks.count(code(mask.value)) > 1:
            yield from ((site.node, after) for after in mask_dropped(site))


def padded_with_zero(function: Function) -> Iterator[Change]:
    """TAN105: 0 for the infinity that a load fills its lanes with."""
    for node in function.nodes:
        other = _argument(node, "other")
        if other is not None and "inf" in code(other.value):
            yield other, other.with_changes(value=cst.Float("0.0"))


def choice_dropped(function: Function) -> Iterator[Change]:
    """TAN105: what `tl.where` chose with the mask of an access, without it."""
    masks = {code(one.value) for node in function.nodes if (one := _argument(node, "mask")) is not None}
    for node in function.nodes:
        if not isinstance(node, cst.Call) or _called(node) != "where" or len(node.args) != 3:
            continue
        if code(node.args[0].value) not in masks:
            continue
        other = code(node.args[2].value)
        if other in ("0", "0.0") or "inf" in other:
            yield node, node.args[1].value


def run_time_constant(function: Function) -> Iterator[Change]:
    """TAC103: a constant that is a plain parameter."""
    for parameter in function.node.params.params:
        if parameter.annotation is not None and code(parameter.annotation.annotation).endswith("constexpr"):
            yield parameter, parameter.with_changes(annotation=None)


def joined_with_and(function: Function) -> Iterator[Change]:
    """TAC107: `and` for `&`."""
    for node in function.nodes:
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.BitAnd):
            yield node, cst.BooleanOperation(node.left, cst.And(), node.right, node.lpar, node.rpar)


def added_in_16_bits(function: Function) -> Iterator[Change]:
    """TAN101: an accumulator of 16 bits, and what is added to it cast to them."""
    names = {
        site.node.target.value
        for site in function.sites
        if site.loop is not None and isinstance(site.node, cst.AugAssign) and isinstance(site.node.target, cst.Name)
    }
    for node in function.nodes:
        made = node.value if isinstance(node, cst.Assign) else None
        if isinstance(made, cst.Call) and _called(made) == "zeros" and "float32" in code(made):
            name = code(node.targets[0].target)
            if name in names:
                yield function.node.body, function.node.body.visit(_Narrowing(name))


class _Narrowing(cst.CSTTransformer):
    def __init__(self, name: str) -> None:
        self._name = name

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        if code(updated_node.targets[0].target) != self._name or _called(updated_node.value) != "zeros":
            return updated_node
        text = code(updated_node.value).replace("float32", "float16")
        return updated_node.with_changes(value=cst.parse_expression(text))

    def leave_AugAssign(self, original_node: cst.AugAssign, updated_node: cst.AugAssign) -> cst.AugAssign:
        if code(updated_node.target) != self._name or not isinstance(updated_node.operator, cst.AddAssign):
            return updated_node
        value = code(updated_node.value)
        text = value if isinstance(updated_node.value, cst.Call) else f"({value})"
        return updated_node.with_changes(value=cst.parse_expression(f"{text}.to(tl.float16)"))


def summed_in_16_bits(function: Function) -> Iterator[Change]:
    """TAN101: what `tl.sum` adds up in 16 bits."""
    for site in function.sites:
        if _called(site.node) == "sum":
            yield from ((site.node, after) for after in cast_before_product(site))


def divided_by_slash(function: Function) -> Iterator[Change]:
    """TAC112: `/` for `//`."""
    for node in function.nodes:
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.FloorDivide):
            yield node, node.with_changes(operator=cst.Divide())


def begun_as_integer(function: Function) -> Iterator[Change]:
    """TAC122: what a loop makes a float begins as an integer."""
    for site in function.sites:
        node = site.node
        if site.loop is not None or not isinstance(node, cst.Assign) or not isinstance(node.value, cst.Float):
            continue
        if node.value.value in ("0.0", "1.0", "0.", "1."):
            yield node.value, cst.Integer(node.value.value[0])


def widened_late(function: Function) -> Iterator[Change]:
    """TAC132: a product that is widened when it was computed."""
    for site in function.sites:
        node = site.node
        if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Multiply):
            continue
        for side in ("left", "right"):
            factor = getattr(node, side)
            if isinstance(factor, cst.Call) and code(factor).endswith(".to(tl.int64)"):
                product = code(node.with_changes(**{side: factor.func.value}))
                yield node, cst.parse_expression(f"({product}).to(tl.int64)")


def misspelt_keyword(function: Function) -> Iterator[Change]:
    """TAC105: a keyword that is almost right."""
    for node in function.nodes:
        mask = _argument(node, "mask")
        if mask is not None:
            yield mask, mask.with_changes(keyword=cst.Name("masks"))


def under_an_old_name(function: Function) -> Iterator[Change]:
    """TAC106: the target's own library by the name that it had."""
    for node in function.nodes:
        if isinstance(node, cst.Attribute) and code(node.value).rpartition(".")[2] == "libdevice":
            yield node, node.with_changes(value=cst.parse_expression("tl.math"))


SEEDS = (
    Seed("TAM101", unmasked, is_common=True),
    Seed("TAN105", padded_with_zero),
    Seed("TAN105", choice_dropped),
    Seed("TAC103", run_time_constant, is_common=True),
    Seed("TAC107", joined_with_and, is_common=True),
    Seed("TAN101", added_in_16_bits),
    Seed("TAN101", summed_in_16_bits),
    Seed("TAC112", divided_by_slash),
    Seed("TAC122", begun_as_integer),
    Seed("TAC132", widened_late),
    Seed("TAC105", misspelt_keyword, is_common=True),
    Seed("TAC106", under_an_old_name),
)


def _called(node: cst.CSTNode) -> str:
    """`load` of `tl.load(…)`."""
    return code(node.func).rpartition(".")[2] if isinstance(node, cst.Call) else ""


def _argument(node: cst.CSTNode, name: str) -> cst.Arg | None:
    return argument(node, name) if isinstance(node, cst.Call) and _called(node) in ("load", "store") else None
