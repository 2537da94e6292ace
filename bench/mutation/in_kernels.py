"""The faults that are put into kernels: each function yields what may stand in a node's place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import libcst as cst

from bench.mutation.sites import MEMORY, Site, argument, code, name_of, names_in

Operator = Callable[[Site], Iterator[str | cst.CSTNode]]
"""Yields an expression or a statement as text, or a node."""

# -- masks -----------------------------------------------------------------------------------------------------------


def mask_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if _is_access(site) and argument(site.node, "mask"):
        yield _without(site.node, "mask", "other")


def mask_term_dropped(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.BinaryOperation) and isinstance(site.node.operator, cst.BitAnd):
        yield code(site.node.left)
        yield code(site.node.right)


def mask_swapped(site: Site) -> Iterator[cst.CSTNode]:
    mask = argument(site.node, "mask") if _is_access(site) else None
    if mask is not None:
        ranks = dict(site.function.masks)
        own = code(mask.value)
        for other, rank in site.function.masks:
            if other != own and rank == ranks[own]:
                yield site.node.deep_replace(mask.value, cst.parse_expression(other))


def comparison_weakened(site: Site) -> Iterator[str]:
    left, operator, right = _compared(site)
    if operator == "<" and "float" not in right:
        yield f"{left} <= {right}"
    if operator == "<=":
        yield f"{left} <= {right} + 1"
    if operator == ">=":
        yield f"{left} >= {right} - 1"


def comparison_strengthened(site: Site) -> Iterator[str]:
    left, operator, right = _compared(site)
    if operator == "<" and "float" not in right:
        yield f"{left} < {right} - 1"
    if operator in ("<=", ">="):
        yield f"{left} {operator[0]} {right}"


def comparison_turned(site: Site) -> Iterator[str]:
    left, operator, right = _compared(site)
    turned = {"<": ">", ">": "<", "<=": ">", ">=": "<", "==": "!=", "!=": "=="}
    if operator in turned:
        yield f"{left} {turned[operator]} {right}"


def _compared(site: Site) -> tuple[str, str, str]:
    node = site.node
    if not isinstance(node, cst.Comparison) or len(node.comparisons) != 1:
        return "", "", ""
    (target,) = node.comparisons
    return code(node.left), code(target.operator).strip(), code(target.comparator)


# -- accesses --------------------------------------------------------------------------------------------------------


def other_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if _is_access(site) and argument(site.node, "other"):
        yield _without(site.node, "other")


def other_changed(site: Site) -> Iterator[cst.CSTNode]:
    other = argument(site.node, "other") if _is_access(site) else None
    if other is not None:
        changed = {"0.0": "1.0", "0": "1", '-float("inf")': "0.0"}[code(other.value)]
        yield site.node.deep_replace(other.value, cst.parse_expression(changed))


def offset_off_by_one(site: Site) -> Iterator[str | cst.CSTNode]:
    if name_of(site.node) == "tl.arange":
        yield f"1 + {code(site.node)}"
    if _is_access(site):
        pointer = site.node.args[0]
        changed = cst.parse_expression(f"{code(pointer.value)} + 1")
        yield site.node.with_changes(args=[pointer.with_changes(value=changed), *site.node.args[1:]])


def stride_mistaken(site: Site) -> Iterator[str]:
    strides = [name for name in site.function.parameters if "stride" in name]
    if isinstance(site.node, cst.Name) and site.node.value in strides:
        following = strides[(strides.index(site.node.value) + 1) % len(strides)]
        if following != site.node.value:
            yield following
        yield "1"


def block_turned(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.Subscript):
        text = code(site.node)
        if text.endswith("[:, None]"):
            yield text.removesuffix("[:, None]") + "[None, :]"
        if text.endswith("[None, :]"):
            yield text.removesuffix("[None, :]") + "[:, None]"


def program_id_lost(site: Site) -> Iterator[str]:
    if name_of(site.node) == "tl.program_id":
        yield f"{code(site.node)} * 0"


def program_id_of_other_axis(site: Site) -> Iterator[str]:
    if name_of(site.node) == "tl.program_id":
        yield f"tl.program_id({1 - int(code(site.node.args[0]))})"


def wide_offset_dropped(site: Site) -> Iterator[str]:
    if _is_cast_to(site, "tl.int64"):
        yield code(site.node.func.value)


def atomic_lost(site: Site) -> Iterator[str]:
    """An atomic update as a store, and as a load and a store."""
    if name_of(site.node) != "tl.atomic_add":
        return
    pointer, value, *rest = (code(one).rstrip(", ") for one in site.node.args)
    if not isinstance(site.parent, cst.Expr):
        yield f"tl.load({pointer})"
        return
    held = f"tl.load({', '.join((pointer, *rest))})"
    yield f"tl.store({', '.join((pointer, value, *rest))})"
    yield f"tl.store({', '.join((pointer, f'{held} + {value}', *rest))})"


def atomic_changed(site: Site) -> Iterator[str]:
    if name_of(site.node) == "tl.atomic_add":
        yield code(site.node).replace("tl.atomic_add", "tl.atomic_max", 1)


def order_weakened(site: Site) -> Iterator[cst.CSTNode]:
    order = argument(site.node, "sem") if isinstance(site.node, cst.Call) else None
    if order is not None:
        for weaker in ("relaxed", "acquire", "release"):
            yield site.node.deep_replace(order.value, cst.SimpleString(f'"{weaker}"'))


# -- loops -----------------------------------------------------------------------------------------------------------


def loop_bound(site: Site) -> Iterator[str]:
    """One fewer, the last round lost, the first round lost."""
    if not _is_range(site):
        return
    name, (start, end, step) = name_of(site.node), _range(site.node)
    yield f"{name}({start}, ({end}) - 1, {step})"
    if step != "1":
        yield f"{name}({start}, ({end}) - {step}, {step})"
    yield f"{name}({start} + {step}, {end}, {step})"


def loop_step(site: Site) -> Iterator[str]:
    if _is_range(site):
        name, (start, end, step) = name_of(site.node), _range(site.node)
        yield f"{name}({start}, {end}, {step} * 2)"
        if step != "1":
            yield f"{name}({start}, {end}, {step} + 1)"


def _is_range(site: Site) -> bool:
    return name_of(site.node) in ("range", "tl.static_range")


def _range(call: cst.CSTNode) -> tuple[str, str, str]:
    values = [code(one.value) for one in call.args]
    if len(values) == 1:
        return "0", values[0], "1"
    return values[0], values[1], values[2] if len(values) > 2 else "1"


# -- numbers ---------------------------------------------------------------------------------------------------------


def half_accumulator(site: Site) -> Iterator[str]:
    """What a loop adds up is rounded to float16 in each round."""
    updated = _updated(site)
    if updated is not None and site.loop is not None:
        name, value = updated
        yield f"{name} = ({value}).to(tl.float16).to(tl.float32)"


def _updated(site: Site) -> tuple[str, str] | None:
    """A variable that is made of itself, and what of it."""
    node = site.node
    if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
        return node.target.value, f"{node.target.value} {code(node.operator).strip().rstrip('=')} ({code(node.value)})"
    if isinstance(node, cst.Assign) and isinstance(target := node.targets[0].target, cst.Name):
        return (target.value, code(node.value)) if target.value in names_in(node.value) else None
    return None


def upcast_dropped(site: Site) -> Iterator[str]:
    if _is_cast_to(site, "tl.float32"):
        yield code(site.node.func.value)


def cast_early(site: Site) -> Iterator[str | cst.CSTNode]:
    """What is summed, multiplied or widened is rounded to float16 before."""
    if _is_cast_to(site, "tl.float32"):
        yield f"({code(site.node.func.value)}).to(tl.float16).to(tl.float32)"
    if name_of(site.node) in ("tl.sum", "tl.cumsum"):
        value = site.node.args[0].value
        yield site.node.deep_replace(value, cst.parse_expression(f"({code(value)}).to(tl.float16)"))


def maximum_not_subtracted(site: Site) -> Iterator[str]:
    if name_of(site.node) == "tl.exp":
        value = site.node.args[0].value
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Subtract):
            yield f"tl.exp({code(value.left)})"


def precision_lowered(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.SimpleString) and site.node.value == '"ieee"':
        yield '"tf32"'


def constant_changed(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.Float):
        value = float(site.node.value)
        yield repr(value * 2 if value else 1.0)
    if isinstance(site.node, cst.Integer) and not site.is_inside(
        "tl.arange", "range", "tl.static_range", "tl.program_id", "tl.zeros"
    ):
        is_axis = isinstance(site.parent, cst.Arg) and site.parent.keyword is not None
        if not is_axis:
            yield str(int(site.node.value) + 1)


_SWAPPED = {"+": "-", "-": "+", "*": "/", "/": "*", "//": "%", "%": "//"}


def operator_swapped(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.BinaryOperation):
        operator = code(site.node.operator).strip()
        if operator in _SWAPPED:
            yield f"{code(site.node.left)} {_SWAPPED[operator]} {code(site.node.right)}"
    if isinstance(site.node, cst.AugAssign):
        operator = code(site.node.operator).strip().rstrip("=")
        yield f"{code(site.node.target)} {_SWAPPED[operator]}= {code(site.node.value)}"


def term_dropped(site: Site) -> Iterator[str]:
    if isinstance(site.node, cst.BinaryOperation):
        operator = code(site.node.operator).strip()
        if operator in ("+", "-", "*", "/", "%", "//"):
            yield code(site.node.left)
        if operator in ("+", "*"):
            yield code(site.node.right)


_OTHER_FUNCTIONS = {
    "tl.maximum": "tl.minimum",
    "tl.minimum": "tl.maximum",
    "tl.max": "tl.min",
    "tl.sum": "tl.max",
    "tl.exp": "tl.exp2",
    "tl.log": "tl.log2",
    "tl.floor": "tl.ceil",
    "tl.sqrt": "tl.abs",
    "tl.erf": "tl.sin",
    "tl.cumsum": "tl.cumprod",
    "tl.rand": "tl.randn",
    "min": "max",
}


def function_swapped(site: Site) -> Iterator[cst.CSTNode]:
    other = _OTHER_FUNCTIONS.get(name_of(site.node))
    if other is not None:
        yield site.node.with_changes(func=cst.parse_expression(other))


def function_dropped(site: Site) -> Iterator[str]:
    if name_of(site.node) in ("tl.abs", "tl.trans", "tl.sqrt", "tl.floor", "tl.log"):
        yield code(site.node.args[0].value)
    if name_of(site.node) in ("tl.maximum", "tl.minimum"):
        for one in site.node.args:
            yield code(one.value)


def axis_changed(site: Site) -> Iterator[cst.CSTNode]:
    axis = argument(site.node, "axis") if isinstance(site.node, cst.Call) else None
    if axis is not None:
        yield site.node.deep_replace(axis.value, cst.Integer(str(1 - int(code(axis.value)))))


def choice_swapped(site: Site) -> Iterator[str]:
    if name_of(site.node) == "tl.where":
        condition, first, second = (code(one.value) for one in site.node.args)
        yield f"tl.where({condition}, {second}, {first})"


def choice_dropped(site: Site) -> Iterator[str]:
    if name_of(site.node) == "tl.where":
        for one in site.node.args[1:]:
            yield code(one.value)


# -- statements ------------------------------------------------------------------------------------------------------


def update_lost(site: Site) -> Iterator[str]:
    """What was added up is overwritten."""
    if isinstance(site.node, cst.AugAssign):
        yield f"{code(site.node.target)} = {code(site.node.value)}"


def statement_dropped(site: Site) -> Iterator[str]:
    """An access of which nothing comes back, and a variable's second value."""
    node = site.node
    is_access = isinstance(node, cst.Expr) and name_of(node.value) in MEMORY
    is_second = (
        site.loop is not None and isinstance(node, cst.Assign) and _target(node) in site.function.set_before_loops
    )
    if is_access or is_second or isinstance(node, cst.AugAssign):
        yield "pass"


def _target(node: cst.Assign) -> str:
    return code(node.targets[0].target)


def condition_dropped(site: Site) -> Iterator[cst.CSTNode]:
    if isinstance(site.node, cst.If):
        yield site.node.with_changes(test=cst.Name("True"))


def _is_access(site: Site) -> bool:
    return name_of(site.node) in MEMORY


def _is_cast_to(site: Site, dtype: str) -> bool:
    return (
        isinstance(site.node, cst.Call)
        and isinstance(site.node.func, cst.Attribute)
        and site.node.func.attr.value == "to"
        and code(site.node.args[0].value) == dtype
    )


def _without(call: cst.Call, *names: str) -> cst.Call:
    kept = [one for one in call.args if one.keyword is None or one.keyword.value not in names]
    return call.with_changes(args=[*kept[:-1], kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)])


OPERATORS: Sequence[Operator] = (
    mask_dropped,
    mask_term_dropped,
    mask_swapped,
    comparison_weakened,
    comparison_strengthened,
    comparison_turned,
    other_dropped,
    other_changed,
    offset_off_by_one,
    stride_mistaken,
    block_turned,
    program_id_lost,
    program_id_of_other_axis,
    wide_offset_dropped,
    atomic_lost,
    atomic_changed,
    order_weakened,
    loop_bound,
    loop_step,
    half_accumulator,
    upcast_dropped,
    cast_early,
    maximum_not_subtracted,
    precision_lowered,
    constant_changed,
    operator_swapped,
    term_dropped,
    function_swapped,
    function_dropped,
    axis_changed,
    choice_swapped,
    choice_dropped,
    update_lost,
    statement_dropped,
    condition_dropped,
)
