"""The shapes of the tensors that a launch passes, as far as the wrapper tells them by what it passes as well."""

from __future__ import annotations

import ast

from tritonaudit.kernel.extents import known_rank
from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.tensors import allocation, parameters
from tritonaudit.source.outline import dotted_name

_DEPTH = 3


def passed_shape(launch: Launch, tensor: ast.expr, depth: int = 0) -> tuple[str, ...] | None:
    """The kernel's parameters that the sizes of all its dimensions are passed for; None where one is not."""
    made = allocation(launch, tensor)
    if made is not None:
        return _of_allocation(launch, made, depth) if len(launch.definitions(tensor)) == 1 else None
    if launch.wrapper is None or not isinstance(tensor, ast.Name) or not _is_as_given(launch, tensor):
        return None
    rank = known_rank(launch, tensor) or 0
    return _all_known([_passed_size(launch, tensor.id, place, rank) for place in range(rank)])


def _of_allocation(launch: Launch, made: ast.Call, depth: int) -> tuple[str, ...] | None:
    """`torch.empty(m, n)`, `x.new_empty((m, n))` or `torch.empty_like(x)`."""
    name = (dotted_name(made.func) or "").rpartition(".")[2]
    given = list(made.args)
    if name.endswith("_like"):
        return passed_shape(launch, given[0], depth + 1) if given and depth < _DEPTH else None
    if given and isinstance(given[0], (ast.Tuple, ast.List)):
        given = given[0].elts
    return _all_known(
        [_parameter_for(launch, (ast.unparse(size), ast.unparse(launch.definition(size)))) for size in given]
    )


def _all_known(found: list[str | None]) -> tuple[str, ...] | None:
    known = tuple(name for name in found if name is not None)
    return known if known and len(known) == len(found) else None


def _is_as_given(launch: Launch, tensor: ast.Name) -> bool:
    """Whether the wrapper was given it so, or lays it out anew at most."""
    values = launch.reaching.get(tensor.id, ())
    assert launch.wrapper is not None
    return tensor.id in parameters(launch.wrapper) and all(
        ast.unparse(value) == f"{tensor.id}.contiguous()" for value in values
    )


def _passed_size(launch: Launch, tensor: str, place: int, rank: int) -> str | None:
    spelled = [f"{tensor}.{asked}" for at in (place, place - rank) for asked in (f"shape[{at}]", f"size({at})")]
    return _parameter_for(launch, (*spelled, f"{tensor}.size()[{place - rank}]"))


def _parameter_for(launch: Launch, texts: tuple[str, ...]) -> str | None:
    """The kernel's parameter that an expression of one of these texts is passed for."""
    passed = launch.arguments.items()
    return next((name for name, node in passed if any(launch.spells(node, text) for text in texts)), None)


def is_free(launch: Launch, name: str) -> bool:
    """Whether what is passed for the kernel's parameter may be more than 1, whatever the sizes are.

    That is a number, or what the wrapper was given as it came.
    """
    node = launch.arguments.get(name)
    node = None if node is None else launch.definition(node)
    if isinstance(node, ast.Constant):
        return type(node.value) is int and node.value > 1
    wrapper = launch.wrapper
    return isinstance(node, ast.Name) and wrapper is not None and node.id in parameters(wrapper)
