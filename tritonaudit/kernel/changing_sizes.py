"""Sizes of the data that change from call to call, and the parameters that are given one though Triton compiles for it.

A model's own sizes (features, heads, a chunk's length) are few. The numbers of tokens, rows and elements, the lengths
of sequences and the sizes of batches are as many as there are inputs. Which is which is told by what the host code
calls a size and by which dimension of a tensor it is; of what neither tells nothing is said.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tritonaudit.kernel.extents import dimension_of, rank_of
from tritonaudit.kernel.launch import ROUNDED_UP, Launch, LaunchFacts
from tritonaudit.kernel.tuning_keys import is_number_of_sequences
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_DEPTH = 8
_LEAST_BLOCK = 64  # what a block of unknown size is taken for
_COARSE = 1024  # sizes that are rounded to so much take few values

_NAMED = re.compile(
    r"^(num_|n_|nr_|total_|max_)*(tokens?|rows|seq_?len(gth)?s?(_?[qk])?)$|^(total|max)_?(seq_?)?len(gth)?s?(_?[qk])?$",
    re.IGNORECASE,
)
_LIKE_POSITIONS = re.compile(r"seq_?len|seq$|ctx$|^(t|l|sl)$", re.IGNORECASE)
_LIKE_ROWS = re.compile(r"tok|rows?$|^m$", re.IGNORECASE)
_LIKE_BATCH = re.compile(r"^batch(_?size)?$|^bsz?$|^b$|^n(um)?_?(seqs|reqs|batch(es)?)$", re.IGNORECASE)
_LIKE_FIXED = re.compile(
    r"head|expert|group|chunk|block|page|slot|vocab|class|feature|chan|hidden|dim|cols", re.IGNORECASE
)
_LIKE_WEIGHTS = re.compile(r"w(eight|gt|ts?\b|\b|_)|param|bias|table|embed|scale|cache|gamma|beta", re.IGNORECASE)
_OF_A_STEP = re.compile(r"^((rng|philox)_?)?seed$|^lr$|^learning_rate$|^bias_correction\d?$", re.IGNORECASE)
_SHAPED = frozenset(
    {"arange", "zeros", "full", "static_range", "reshape", "view", "broadcast_to", "expand", "constexpr"}
)
_BLOCKED = {"make_block_ptr": 4, "make_tensor_descriptor": 3}
"""Calls whose `block_shape` alone must be constant, and where it stands."""


class Changing(Enum):
    """What a number that changes from call to call is."""

    BATCH = "the size of a batch"
    DATA = "a size of the data"
    STEP = "a number of one step"


@dataclass(frozen=True, eq=False)
class ChangingArgument:
    """A launch passes `given` for a parameter (at `node`), which is `constexpr` or not, and `changes`.

    `unused`: nothing in the kernel reads it.
    """

    node: ast.arg
    constexpr: bool
    given: ast.expr
    value: ast.expr
    changes: Changing
    unused: bool


def recompiling(module: Module, function: JitFunction, launches: LaunchFacts) -> Iterator[ChangingArgument]:
    """The parameters that are given another number for each input, and make Triton compile the kernel anew for it.

    That is a compile-time constant that no shape needs. It is a quotient that nothing reads, too: a key of the caller's
    for the cache, for Triton compiles a plain number that is 1 or divisible by 16 by itself. A size that nothing
    reads may be there for the sake of completeness.
    """
    if not launches.launches:
        return
    read = {node.id for node in function.nodes.of(ast.Name)}
    asked = {p.name: p.constexpr for p in function.parameters if p.constexpr or p.name not in read}
    changing = {name: found for name in asked if (found := _passed(launches, name)) is not None}
    if not changing:
        return
    silent = _needed(module, function) | launches.tuned | _named_by_decorators(function)
    arguments = function.node.args
    for node in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        if node.arg not in changing or node.arg in silent:
            continue
        if asked[node.arg] or _is_quotient(*changing[node.arg][1:]):
            yield ChangingArgument(node, asked[node.arg], *changing[node.arg], node.arg not in read)


def _passed(launches: LaunchFacts, name: str) -> tuple[ast.expr, ast.expr, Changing] | None:
    """What the first launch gives it that changes, as written and as defined, and how."""
    for launch in launches.launches:
        given = launch.arguments.get(name)
        if given is None or launch.wrapper is None or isinstance(given, ast.Constant):
            continue
        changes = Changing.STEP if _OF_A_STEP.search(name) else changes_by(launch, given)
        value = launch.definition(given)
        if changes is not None and not isinstance(value, ast.Constant):
            return given, value, changes
    return None


def _is_quotient(value: ast.expr, changes: Changing) -> bool:
    divided = isinstance(value, ast.BinOp) and isinstance(value.op, ast.FloorDiv)
    return divided and changes is Changing.DATA and not _counts_elements(value)


def _named_by_decorators(function: JitFunction) -> set[str]:
    """What an autotuner's key or `do_not_specialize` names."""
    strings = (node for decorator in function.decorators for node in ast.walk(decorator))
    return {node.value for node in strings if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _needed(module: Module, function: JitFunction) -> set[str]:
    """The names that a shape, or a function that may want a constant, is made of."""
    needed: set[str] = set()
    for call in function.nodes.of(ast.Call):
        origin = module.origin_of(call.func)
        name = origin.rpartition(".")[2] if origin != "?" else getattr(call.func, "attr", "")
        if name in _SHAPED or module.function(name) is not None:
            needed |= names_in(call)
        elif name in _BLOCKED:
            keywords = [keyword.value for keyword in call.keywords if keyword.arg == "block_shape"]
            needed |= set().union(*map(names_in, (*call.args[_BLOCKED[name] : _BLOCKED[name] + 1], *keywords)))
    for assigned in function.nodes.of(ast.AnnAssign):
        if assigned.value is not None:
            needed |= names_in(assigned.value)
    for assign in function.nodes.of(ast.Assign):
        if any(names_in(target) & needed for target in assign.targets):
            needed |= names_in(assign.value)
    return needed


def changes_by(launch: Launch, node: ast.expr, name: str = "", depth: int = 0) -> Changing | None:
    """How an expression of the host code changes from call to call; None where it does not, or nobody can tell."""
    if depth > _DEPTH:
        return None
    if isinstance(node, ast.Name):
        return _named(launch, node, depth)
    if isinstance(node, ast.IfExp):
        return _both(changes_by(launch, arm, name, depth + 1) for arm in (node.body, node.orelse))
    if isinstance(node, ast.BinOp):
        return _computed(launch, node, name, depth)
    if isinstance(node, ast.Call):
        return _called(launch, node, name, depth)
    return _dimension(launch, node, name) if isinstance(node, ast.Subscript) else None


def _named(launch: Launch, node: ast.Name, depth: int) -> Changing | None:
    values = [value for value in launch.definitions(node) if value is not node]
    if not values:
        return Changing.DATA if _NAMED.search(node.id) else None
    if any(node.id in names_in(value) for value in values):
        return None  # changed in place
    return _both(changes_by(launch, value, node.id, depth + 1) for value in values)


def _both(found: Iterator[Changing | None]) -> Changing | None:
    """What holds of all of them."""
    kinds = set(found)
    if not kinds or None in kinds:
        return None
    return Changing.BATCH if Changing.BATCH in kinds else Changing.DATA


def _most(*found: Changing | None) -> Changing | None:
    return Changing.DATA if Changing.DATA in found else next((kind for kind in found if kind is not None), None)


def _computed(launch: Launch, node: ast.BinOp, name: str, depth: int) -> Changing | None:
    if isinstance(node.op, (ast.FloorDiv, ast.Div)):
        return _divided(launch, node.left, node.right, name, depth)
    if is_number_of_sequences(node):
        return Changing.BATCH
    left, right = (changes_by(launch, side, name, depth + 1) for side in (node.left, node.right))
    return _most(left, right) if isinstance(node.op, (ast.Mult, ast.Add, ast.Sub)) else None


def _divided(launch: Launch, node: ast.expr, by: ast.expr, name: str, depth: int) -> Changing | None:
    """A quotient changes where what it is divided by is fixed, and too small to leave few values."""
    if changes_by(launch, by, name, depth + 1) is not None or _divisor(launch, by) * _divisors(launch, node) >= _COARSE:
        return None
    fixed = not _counts_elements(launch.definition(node)) or _is_fixed(launch, by)
    return changes_by(launch, node, name, depth + 1) if fixed else None


def _divisors(launch: Launch, node: ast.expr) -> int:
    """What a quotient is divided by already."""
    node = launch.definition(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return _divisor(launch, node.right) * _divisors(launch, node.left)
    if isinstance(node, ast.Call) and (dotted_name(node.func) or "").rpartition(".")[2] in ROUNDED_UP:
        return _divisor(launch, node.args[-1]) * _divisors(launch, node.args[0]) if node.args else 1
    return 1


def _divisor(launch: Launch, node: ast.expr) -> int:
    value = launch.definition(node)
    return value.value if isinstance(value, ast.Constant) and type(value.value) is int else _LEAST_BLOCK


def _counts_elements(node: ast.expr) -> bool:
    """Whether it is made of the number of all elements of a tensor, which by one dimension gives the others."""
    return bool({"numel", "prod", "nelement"} & _attributes(node))


def _is_fixed(launch: Launch, node: ast.expr) -> bool:
    """A number, a tensor's last dimension, or what is called as a fixed size is."""
    value = launch.definition(node)
    name = node.id if isinstance(node, ast.Name) else ""
    return isinstance(value, ast.Constant) or dimension_of(value)[1] == -1 or bool(_LIKE_FIXED.search(name))


def _attributes(node: ast.expr) -> set[str]:
    return {inner.attr for inner in ast.walk(node) if isinstance(inner, ast.Attribute)}


def _called(launch: Launch, node: ast.Call, name: str, depth: int) -> Changing | None:
    called = node.func.attr if isinstance(node.func, ast.Attribute) else (dotted_name(node.func) or "")
    if called in ROUNDED_UP and len(node.args) == 2:
        return _divided(launch, node.args[0], node.args[1], name, depth)
    if called == "max" and isinstance(node.func, ast.Name):
        return _most(*(changes_by(launch, argument, name, depth + 1) for argument in node.args))
    if called in ("int", "ceil", "floor") and len(node.args) == 1:
        return changes_by(launch, node.args[0], name, depth + 1)
    if called == "numel" and not node.args and isinstance(node.func, ast.Attribute):
        return None if _LIKE_WEIGHTS.search(ast.unparse(node.func.value)) else Changing.DATA
    return _dimension(launch, node, name) if called == "size" and node.args else None


def _dimension(launch: Launch, node: ast.Subscript | ast.Call, name: str) -> Changing | None:
    """Whether a dimension of a tensor is one of the data, by its place and by what the host code calls it."""
    tensor, index = dimension_of(node)
    if tensor is None or index is None or _LIKE_FIXED.search(name) or _LIKE_WEIGHTS.match(ast.unparse(tensor)):
        return None
    if _NAMED.search(name):
        return Changing.DATA
    if not any(kind.search(name) for kind in (_LIKE_POSITIONS, _LIKE_BATCH, _LIKE_ROWS)):
        return None
    rank = rank_of(launch, tensor)
    if rank is None or not -rank <= index < rank:
        return None
    place = index % rank
    if place < rank - 1 and _LIKE_POSITIONS.search(name):
        return Changing.DATA
    if place == 0 and rank > 1 and _LIKE_BATCH.search(name):
        return Changing.BATCH
    return Changing.DATA if place == 0 and rank == 2 and _LIKE_ROWS.search(name) else None
