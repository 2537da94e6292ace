"""What people get wrong in kernels and in the functions that launch them, as edits of a node.

Half of the operators may be worked on: what they miss may be read, and learnt from. The others are only counted.
Nothing here asks for a name of the code that it changes, but for those of Triton's and torch's own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import libcst as cst

from bench.mutation.sites import Function, Site, argument, code, is_launch

Edit = Callable[[Site], Iterator[cst.CSTNode]]


@dataclass(frozen=True)
class Operator:
    """An edit of kernels, or of the functions that launch them; `kind` is the class of the bugs that it makes."""

    edit: Edit
    kind: str
    is_of_kernels: bool
    is_only_counted: bool

    @property
    def name(self) -> str:
        return self.edit.__name__


# -- masks -----------------------------------------------------------------------------------------------------------


def mask_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if _function(site.node) in ("load", "store") and argument(site.node, "mask"):
        yield _without(site.node, "mask", "other")


def mask_term_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if isinstance(site.node, cst.BinaryOperation) and isinstance(site.node.operator, cst.BitAnd):
        yield site.node.left
        yield site.node.right


def bound_weakened(site: Site) -> Iterator[cst.CSTNode]:
    """`<=` for `<`."""
    comparison = _comparison(site.node)
    if comparison is not None and isinstance(comparison.operator, cst.LessThan):
        yield site.node.with_changes(comparisons=[comparison.with_changes(operator=cst.LessThanEqual())])


def bound_of_other_size(site: Site) -> Iterator[cst.CSTNode]:
    """The bound of the neighbouring index."""
    comparison = _comparison(site.node)
    if comparison is None or not isinstance(comparison.operator, cst.LessThan):
        return
    own = code(comparison.comparator)
    for node in site.function.nodes:
        other = _comparison(node)
        if other is not None and isinstance(other.operator, cst.LessThan) and code(other.comparator) != own:
            changed = comparison.with_changes(comparator=other.comparator)
            yield site.node.with_changes(comparisons=[changed])


def mask_of_other_access(site: Site) -> Iterator[cst.CSTNode]:
    mask = argument(site.node, "mask") if _function(site.node) in ("load", "store") else None
    if mask is not None:
        own = code(mask.value)
        for other, _ in site.function.masks:
            if other != own:
                yield _with(site.node, mask, cst.parse_expression(f"({other})" if "\n" in other else other))


def other_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if _function(site.node) == "load" and argument(site.node, "mask") and argument(site.node, "other"):
        yield _without(site.node, "other")


def other_not_neutral(site: Site) -> Iterator[cst.CSTNode]:
    other = argument(site.node, "other") if _function(site.node) == "load" else None
    if other is not None:
        is_zero = isinstance(other.value, (cst.Integer, cst.Float)) and float(other.value.value) == 0
        yield _with(site.node, other, cst.Integer("1" if is_zero else "0"))


def boundary_check_of_one_dimension(site: Site) -> Iterator[cst.CSTNode]:
    check = argument(site.node, "boundary_check") if isinstance(site.node, cst.Call) else None
    if check is not None and isinstance(check.value, cst.Tuple) and len(check.value.elements) == 2:
        for kept in check.value.elements:
            yield _with(site.node, check, cst.parse_expression(f"({code(kept.value)},)"))


# -- addresses -------------------------------------------------------------------------------------------------------


def stride_of_other_tensor(site: Site) -> Iterator[cst.CSTNode]:
    """A parameter that is multiplied by an index, for its neighbour that is."""
    if not isinstance(site.node, cst.Name) or not _is_factor(site):
        return
    factors = [name for name in site.function.parameters if name in _factors(site.function)]
    if site.node.value in factors and len(factors) > 1:
        yield cst.Name(factors[(factors.index(site.node.value) + 1) % len(factors)])


def stride_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if isinstance(site.node, cst.BinaryOperation) and isinstance(site.node.operator, cst.Multiply):
        for kept, factor in ((site.node.left, site.node.right), (site.node.right, site.node.left)):
            if isinstance(factor, cst.Name) and factor.value in site.function.parameters:
                yield kept


def axis_turned(site: Site) -> Iterator[cst.CSTNode]:
    """`[None, :]` for `[:, None]`."""
    if isinstance(site.node, cst.Subscript) and len(site.node.slice) == 2:
        first, second = site.node.slice
        if {code(first.slice), code(second.slice)} == {":", "None"}:
            yield site.node.with_changes(
                slice=[first.with_changes(slice=second.slice), second.with_changes(slice=first.slice)]
            )


def tile_start_added_twice(site: Site) -> Iterator[cst.CSTNode]:
    if _is_tile_start(site):
        assert isinstance(site.node, cst.BinaryOperation)
        start = site.node.left if _function(site.node.right) == "arange" else site.node.right
        yield _sum(site.node, start)


def tile_start_lost(site: Site) -> Iterator[cst.CSTNode]:
    if _is_tile_start(site):
        assert isinstance(site.node, cst.BinaryOperation)
        yield site.node.right if _function(site.node.right) == "arange" else site.node.left


def index_widened_too_late(site: Site) -> Iterator[cst.CSTNode]:
    """A cast of an index to 64 bits is left out."""
    if isinstance(site.node, cst.Call) and _is_cast(site.node, "int64"):
        yield site.node.func.value


def divisor_of_head_wrong(site: Site) -> Iterator[cst.CSTNode]:
    """An index divided, or its remainder taken, by another number than the other of the two is."""
    if isinstance(site.node, cst.BinaryOperation) and isinstance(site.node.operator, (cst.FloorDivide, cst.Modulo)):
        own = code(site.node.right)
        for node in site.function.nodes:
            is_alike = isinstance(node, cst.BinaryOperation) and isinstance(
                node.operator, (cst.FloorDivide, cst.Modulo)
            )
            if is_alike and code(node.right) != own:
                yield site.node.with_changes(right=node.right)


def program_id_of_other_axis(site: Site) -> Iterator[cst.CSTNode]:
    if _function(site.node) == "program_id":
        axis = site.node.args[0]
        if isinstance(axis.value, cst.Integer):
            other = {"0": "1", "1": "0", "2": "1"}.get(axis.value.value)
            if other:
                yield site.node.with_changes(args=[axis.with_changes(value=cst.Integer(other))])


# -- what programs do together ---------------------------------------------------------------------------------------


def store_of_every_program(site: Site) -> Iterator[cst.CSTNode]:
    """The program id is left out of an address, so that all programs along an axis store to the same place."""
    if _function(site.node) == "program_id":
        yield cst.parse_expression(f"({code(site.node)} * 0)")


def atomic_as_store(site: Site) -> Iterator[cst.CSTNode]:
    if _function(site.node) == "atomic_add" and isinstance(site.parent, cst.Expr):
        kept = [one for one in site.node.args if one.keyword is None or one.keyword.value == "mask"]
        yield _called("store", site.node, kept[:3])


def barrier_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if isinstance(site.node, cst.Expr) and _function(site.node.value) == "debug_barrier":
        yield cst.Pass()


# -- loops -----------------------------------------------------------------------------------------------------------


def last_round_lost(site: Site) -> Iterator[cst.CSTNode]:
    """`N // BLOCK` rounds for `cdiv(N, BLOCK)`, and an end that is one step too early."""
    if _function(site.node) == "cdiv" and not _is_in_grid(site):
        first, second = (one.value for one in site.node.args)
        yield cst.parse_expression(f"(({code(first)}) // ({code(second)}))")
    if _is_range(site.node) and len(site.node.args) == 3:
        end, step = site.node.args[1], site.node.args[2]
        yield _with(site.node, end, cst.parse_expression(f"(({code(end.value)}) - ({code(step.value)}))"))


def pointer_not_advanced(site: Site) -> Iterator[cst.CSTNode]:
    """What a loop adds to a pointer or an index in each round is left out."""
    if site.loop is not None and isinstance(site.node, cst.AugAssign) and isinstance(site.node.target, cst.Name):
        yield cst.Pass()


def accumulator_overwritten(site: Site) -> Iterator[cst.CSTNode]:
    if site.loop is not None and isinstance(site.node, cst.AugAssign):
        yield cst.Assign(targets=[cst.AssignTarget(site.node.target)], value=site.node.value)


# -- numbers ---------------------------------------------------------------------------------------------------------


def accumulator_narrow(site: Site) -> Iterator[cst.CSTNode]:
    """What is added up begins in 16 bits."""
    if _function(site.node) in ("zeros", "full"):
        for one in site.node.args:
            if isinstance(one.value, cst.Attribute) and one.value.attr.value == "float32":
                yield _with(site.node, one, one.value.with_changes(attr=cst.Name("float16")))


def maximum_left_out(site: Site) -> Iterator[cst.CSTNode]:
    if _function(site.node) in ("exp", "exp2") and isinstance(site.node, cst.Call):
        value = site.node.args[0].value
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Subtract):
            yield _with(site.node, site.node.args[0], value.left)


def cast_before_product(site: Site) -> Iterator[cst.CSTNode]:
    """An operand of a product, or what is summed, is rounded to 16 bits."""
    if _function(site.node) in ("sum", "dot") and isinstance(site.node, cst.Call):
        one = site.node.args[0]
        narrow = cst.parse_expression(f"(({code(one.value)}).to(tl.float16))")
        yield _with(site.node, one, narrow)


def upcast_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if isinstance(site.node, cst.Call) and _is_cast(site.node, "float32"):
        yield site.node.func.value


def reduction_of_other_axis(site: Site) -> Iterator[cst.CSTNode]:
    if _function(site.node) in ("sum", "max", "min") and isinstance(site.node, cst.Call) and len(site.node.args) > 1:
        axis = argument(site.node, "axis") or site.node.args[1]
        if isinstance(axis.value, cst.Integer) and axis.value.value in "01":
            yield _with(site.node, axis, cst.Integer(str(1 - int(axis.value.value))))


def guard_of_division_dropped(site: Site) -> Iterator[cst.CSTNode]:
    """`x / tl.maximum(n, 1)`, `x / (n + eps)` and roots of such, without what keeps them from zero."""
    is_division = isinstance(site.node, cst.BinaryOperation) and isinstance(site.node.operator, cst.Divide)
    below = site.node.right if is_division else _rooted(site.node)
    if below is None:
        return
    if isinstance(below, cst.BinaryOperation) and isinstance(below.operator, cst.Add):
        yield site.node.deep_replace(below, below.left)
    if _function(below) == "maximum":
        yield site.node.deep_replace(below, below.args[0].value)


# -- launches --------------------------------------------------------------------------------------------------------


def grid_rounded_down(site: Site) -> Iterator[cst.CSTNode]:
    if _function(site.node) == "cdiv" and len(site.node.args) == 2:
        first, second = (code(one.value) for one in site.node.args)
        yield cst.parse_expression(f"(({first}) // ({second}))")


def grid_factor_lost(site: Site) -> Iterator[cst.CSTNode]:
    is_product = isinstance(site.node, cst.BinaryOperation) and isinstance(site.node.operator, cst.Multiply)
    if is_product and _is_in_grid(site):
        yield site.node.left
        yield site.node.right


def stride_of_other_dimension(site: Site) -> Iterator[cst.CSTNode]:
    is_call = isinstance(site.node, cst.Call) and isinstance(site.node.func, cst.Attribute) and len(site.node.args) == 1
    if is_call and site.node.func.attr.value == "stride":
        one = site.node.args[0]
        if isinstance(one.value, cst.Integer):
            yield _with(site.node, one, cst.Integer(str(int(one.value.value) ^ 1)))


def arguments_swapped(site: Site) -> Iterator[cst.CSTNode]:
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


def copy_dropped(site: Site) -> Iterator[cst.CSTNode]:
    is_method = isinstance(site.node, cst.Call) and isinstance(site.node.func, cst.Attribute) and not site.node.args
    if is_method and site.node.func.attr.value == "contiguous":
        yield site.node.func.value


def buffer_not_cleared(site: Site) -> Iterator[cst.CSTNode]:
    for cleared, empty in (("torch.zeros", "empty"), ("torch.zeros_like", "empty_like")):
        if isinstance(site.node, cst.Call) and code(site.node.func) == cleared:
            yield site.node.with_changes(func=cst.Attribute(cst.Name("torch"), cst.Name(empty)))


def buffer_narrow(site: Site) -> Iterator[cst.CSTNode]:
    if isinstance(site.node, cst.Attribute) and code(site.node) == "torch.float32":
        yield site.node.with_changes(attr=cst.Name("float16"))


# -- what the edits ask ----------------------------------------------------------------------------------------------


def _function(node: cst.CSTNode) -> str:
    """`load` of `tl.load(…)` and of `triton.language.load(…)`, empty for what is no call of a module's function."""
    if not isinstance(node, cst.Call):
        return ""
    function = node.func
    if isinstance(function, cst.Attribute):
        return function.attr.value
    return function.value if isinstance(function, cst.Name) else ""


def _comparison(node: cst.CSTNode) -> cst.ComparisonTarget | None:
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return node.comparisons[0]
    return None


def _with(call: cst.CSTNode, one: cst.Arg, value: cst.BaseExpression) -> cst.CSTNode:
    assert isinstance(call, cst.Call)
    return call.with_changes(args=[arg.with_changes(value=value) if arg is one else arg for arg in call.args])


def _without(call: cst.CSTNode, *names: str) -> cst.CSTNode:
    assert isinstance(call, cst.Call)
    kept = [one for one in call.args if one.keyword is None or one.keyword.value not in names]
    return call.with_changes(args=[*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])


def _called(name: str, call: cst.Call, args: Sequence[cst.Arg]) -> cst.CSTNode:
    function = call.func.with_changes(attr=cst.Name(name)) if isinstance(call.func, cst.Attribute) else cst.Name(name)
    return call.with_changes(func=function, args=[*args[:-1], args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])


def _sum(node: cst.CSTNode, other: cst.BaseExpression) -> cst.CSTNode:
    return cst.parse_expression(f"({code(node)} + {code(other)})")


@lru_cache(maxsize=4)
def _factors(function: Function) -> frozenset[str]:
    """The names that are multiplied by something in the function."""
    products = [
        node
        for node in function.nodes
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Multiply)
    ]
    return frozenset(side.value for node in products for side in (node.left, node.right) if isinstance(side, cst.Name))


def _is_factor(site: Site) -> bool:
    return isinstance(site.parent, cst.BinaryOperation) and isinstance(site.parent.operator, cst.Multiply)


def _is_tile_start(site: Site) -> bool:
    """`start + arange(…)`."""
    node = site.node
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return False
    sides = (_function(node.left), _function(node.right))
    return "arange" in sides and sides != ("arange", "arange")


def _is_cast(call: cst.Call, dtype: str) -> bool:
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value != "to" or not call.args:
        return False
    return code(call.args[0].value).rpartition(".")[2] == dtype


def _is_range(node: cst.CSTNode) -> bool:
    return _function(node) in ("range", "static_range")


def _is_in_grid(site: Site) -> bool:
    """Whether it is in a tuple, of which grids are made, of a function that launches."""
    return not site.function.is_kernel and any(isinstance(node, cst.Tuple) for node in site.above)


def _rooted(node: cst.CSTNode) -> cst.BaseExpression | None:
    return node.args[0].value if isinstance(node, cst.Call) and _function(node) in ("sqrt", "rsqrt", "log") else None


def _of(edits: Sequence[tuple[Edit, str]], *, is_of_kernels: bool, is_only_counted: bool) -> tuple[Operator, ...]:
    return tuple(Operator(edit, kind, is_of_kernels, is_only_counted) for edit, kind in edits)


WORKED_ON = (
    *_of(
        (
            (mask_dropped, "missing-mask"),
            (bound_weakened, "wrong-mask"),
            (other_dropped, "missing-other"),
            (stride_of_other_tensor, "stride-assumption"),
            (tile_start_added_twice, "index-mixup"),
            (program_id_of_other_axis, "index-mixup"),
            (index_widened_too_late, "int32-overflow"),
            (atomic_as_store, "race"),
            (last_round_lost, "logic"),
            (accumulator_overwritten, "logic"),
            (accumulator_narrow, "low-precision"),
            (maximum_left_out, "exp-overflow"),
            (reduction_of_other_axis, "logic"),
        ),
        is_of_kernels=True,
        is_only_counted=False,
    ),
    *_of(
        (
            (grid_rounded_down, "grid"),
            (stride_of_other_dimension, "stride-assumption"),
            (buffer_not_cleared, "uninit-output"),
            (copy_dropped, "stride-assumption"),
        ),
        is_of_kernels=False,
        is_only_counted=False,
    ),
)
ONLY_COUNTED = (
    *_of(
        (
            (mask_term_dropped, "wrong-mask"),
            (bound_of_other_size, "wrong-mask"),
            (mask_of_other_access, "wrong-mask"),
            (other_not_neutral, "reduction-padding"),
            (boundary_check_of_one_dimension, "missing-mask"),
            (stride_dropped, "stride-assumption"),
            (axis_turned, "index-mixup"),
            (tile_start_lost, "index-mixup"),
            (divisor_of_head_wrong, "index-mixup"),
            (store_of_every_program, "race"),
            (barrier_dropped, "race"),
            (pointer_not_advanced, "logic"),
            (cast_before_product, "low-precision"),
            (upcast_dropped, "low-precision"),
            (guard_of_division_dropped, "div-log-zero"),
        ),
        is_of_kernels=True,
        is_only_counted=True,
    ),
    *_of(
        (
            (grid_factor_lost, "grid"),
            (arguments_swapped, "index-mixup"),
            (buffer_narrow, "low-precision"),
        ),
        is_of_kernels=False,
        is_only_counted=True,
    ),
)
OPERATORS = (*WORKED_ON, *ONLY_COUNTED)
OF_FILL = (other_dropped.__name__, other_not_neutral.__name__)
