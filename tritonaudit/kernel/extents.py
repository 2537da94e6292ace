"""How many programs the axes of a grid have at most, as far as the host code tells, by a rule of thumb for sizes.

Nothing in a program says that a tensor has a million rows and eight heads. These are the largest sizes that are met:
2**20 rows or tokens, 2**17 positions of a sequence, 2**12 sequences of a batch, 2**7 heads, 2**15 features,
2**31 elements. What is none of these is not known.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tritonaudit.kernel.launch import ROUNDED_UP, Launch, LaunchFacts
from tritonaudit.source.nodes import names_in
from tritonaudit.source.outline import JitFunction, dotted_name

MOST_PROGRAMS = 65_535  # on the second and the third axis, on NVIDIA GPUs

_ROWS, _POSITIONS, _BATCH, _HEADS, _FEATURES, _ELEMENTS = 1 << 20, 1 << 17, 1 << 12, 1 << 7, 1 << 15, 1 << 31
_LEAST_BLOCK = 64  # what a block of unknown size is taken for
_DEPTH = 8
_LAYOUTS = ("reshape", "view")

_LIMITS = re.compile(
    r"\b(65_?53[56]|2 ?\*\* ?1[56]|1 ?<< ?1[56]|0x[fF]{4})\b|max_?grid|grid_?[xyz]?_?(max|limit)", re.IGNORECASE
)
_NAMED_ROWS = re.compile(r"(tokens|rows)$", re.IGNORECASE)
_LIKE_ROWS = re.compile(r"tok|rows?$|^m$", re.IGNORECASE)
_LIKE_POSITIONS = re.compile(r"seq_?len|seq$|ctx$|^(t|s|l)$|len(gth)?$", re.IGNORECASE)
_LIKE_BLOCKS = re.compile(r"^n_?[tclsq]$|^t[qk]$|chunk|blocks$|tokens", re.IGNORECASE)
_LIKE_CHUNKS = re.compile(r"^(n|num)_?chunks$", re.IGNORECASE)
_LIKE_BATCH = re.compile(r"batch|^bs|^bsz$|^b$|seqs|req", re.IGNORECASE)
_LIKE_FEW = re.compile(r"head|expert|group|split|chunk|stage|block|slot|page|chan|^n?h", re.IGNORECASE)
_PAGED = re.compile(r"^(block|page)_?tables?$", re.IGNORECASE)
_PACKED = re.compile(r"cu_?seq|start_?loc|indptr|q_?start", re.IGNORECASE)


@dataclass(frozen=True)
class Extent:
    """At most `most` things are met; `counted` says that they are rows, tokens or elements, which grow with the data.

    `divisor` is the number that divides them, where the host code names one.
    """

    most: int
    counted: bool = False
    divisor: int = 1


@dataclass(frozen=True, eq=False)
class LongAxis:
    """Axis `axis` of the launch's grid, written `node`, may have more programs than a GPU takes.

    `beside_positions`: another axis splits the sequences, so that they are long, and few of them fit into memory.
    """

    launch: Launch
    axis: int
    node: ast.expr
    extent: Extent
    beside_positions: bool


def long_axes(launches: LaunchFacts) -> Iterator[LongAxis]:
    """The first launch for each axis but the first that nothing keeps below the limit."""
    for axis in (1, 2):
        for launch in launches.launches:
            if axis >= len(launch.axes) or launch.wrapper is None or _is_limited(launch):
                continue
            node = launch.axes[axis]
            extent = extent_of(launch, node)
            if extent is None or extent.most <= MOST_PROGRAMS or (extent.counted and _has_pages_for_rows(launch)):
                continue
            if not _is_kept_small(launch, node):
                others = [other for other in launch.axes if other is not node]
                yield LongAxis(launch, axis, node, extent, any(_splits_positions(launch, other) for other in others))
                break


_ONE_OF_MANY = re.compile(
    r"^(q|query|cur|src|dst|out)?_?(tok(en)?|row|pos(ition)?)(_(id|idx|index|num|offset|in_\w+))?$", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class CountedProgram:
    """A kernel that the file does not launch calls its number along `axis` one row's or token's, by `name`."""

    axis: int
    name: str
    node: ast.expr


def counted_programs(function: JitFunction, launches: LaunchFacts) -> Iterator[CountedProgram]:
    """The axes but the first on which each row, token or position has a program, as their names tell."""
    if launches.launches:
        return
    looped = set().union(*(names_in(loop.iter) for loop in function.nodes.of(ast.For)))
    for assign in function.nodes.of(ast.Assign):
        target, value = assign.targets[0], assign.value
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "to":
            value = value.func.value
        axis = _axis_asked(value)
        named = isinstance(target, ast.Name) and target.id not in looped and _ONE_OF_MANY.match(target.id)
        if axis in (1, 2) and isinstance(target, ast.Name) and named:
            yield CountedProgram(axis, target.id, value)


def _axis_asked(node: ast.expr) -> int | None:
    """The axis of `tl.program_id(1)`."""
    if not (isinstance(node, ast.Call) and (dotted_name(node.func) or "").endswith("program_id")):
        return None
    given = [*node.args, *(keyword.value for keyword in node.keywords)]
    return _integer(given[0]) if len(given) == 1 else None


def _is_limited(launch: Launch) -> bool:
    """Whether the host code around the launch speaks of the limit."""
    assert launch.wrapper is not None
    first, last = launch.wrapper.lineno, launch.wrapper.end_lineno
    return any(_LIMITS.search(line.partition("#")[0]) for line in launch.module.lines[first - 1 : last])


def _has_pages_for_rows(launch: Launch) -> bool:
    """Whether each row has pages of a cache of its own: then it is the one new token of a sequence of the batch."""
    names = {node.id for node in launch.nodes.of(ast.Name) if isinstance(node.ctx, ast.Load)}
    return any(map(_PAGED.search, names)) and not any(map(_PACKED.search, names))


def _is_kept_small(launch: Launch, node: ast.expr) -> bool:
    """Whether the wrapper compares the size with a number, or launches only where it is 1."""
    texts = {ast.unparse(node), ast.unparse(launch.definition(node))}
    tests = [test for test in launch.nodes.of(ast.Compare) if ast.unparse(test.left) in texts]
    if any((_integer(value) or 0) > 1 for test in tests for value in test.comparators):
        return True
    return any(_asks_for_one(test.test, texts) and _holds(test.body, launch.call) for test in launch.nodes.of(ast.If))


def _holds(body: list[ast.stmt], call: ast.Call) -> bool:
    return any(inner is call for statement in body for inner in ast.walk(statement))


def _asks_for_one(test: ast.expr, texts: set[str]) -> bool:
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(ast.unparse(part) == f"{text} == 1" for part in parts for text in texts)


def _splits_positions(launch: Launch, node: ast.expr, depth: int = 0) -> bool:
    """Whether an axis counts positions of sequences, or blocks of them."""
    if isinstance(node, ast.Call) and _divides_positions(launch, node):
        return True
    names = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name)]
    if any(_LIKE_POSITIONS.search(name.id) or _LIKE_BLOCKS.search(name.id) for name in names):
        return True
    values = [value for name in names for value in launch.definitions(name) if value is not name]
    return depth < _DEPTH and any(
        _splits_positions(launch, value, depth + 1) for value in values if not isinstance(value, ast.Subscript)
    )


def _divides_positions(launch: Launch, quotient: ast.Call) -> bool:
    """Whether it divides a dimension of a tensor that is neither its first nor its last, and rounds up."""
    called = (dotted_name(quotient.func) or "").rpartition(".")[2]
    if called not in ROUNDED_UP or not quotient.args:
        return False
    tensor, index = dimension_of(launch.definition(quotient.args[0]))
    rank = None if tensor is None else rank_of(launch, tensor)
    return index is not None and rank is not None and 0 < index % rank < rank - 1


def extent_of(launch: Launch, node: ast.expr, name: str = "", depth: int = 0) -> Extent | None:
    """How large an expression of the host code gets; None where that cannot be told."""
    if depth > _DEPTH:
        return None
    if isinstance(node, ast.Name):
        return _named(launch, node, depth)
    if isinstance(node, ast.Constant):
        return Extent(node.value) if type(node.value) is int else None
    if isinstance(node, ast.IfExp):
        return _largest([extent_of(launch, arm, name, depth + 1) for arm in (node.body, node.orelse)])
    if isinstance(node, ast.BinOp):
        return _computed(launch, node, name, depth)
    if isinstance(node, ast.Call):
        return _called(launch, node, name, depth)
    if isinstance(node, ast.Subscript):
        return _dimension(launch, node, name)
    return None


def _named(launch: Launch, node: ast.Name, depth: int) -> Extent | None:
    values = [value for value in launch.definitions(node) if value is not node]
    if not values:
        return Extent(_ROWS, True) if _NAMED_ROWS.search(node.id) else None
    if any(_speaks_of(value, node.id) for value in values):
        return None  # changed in place
    return _largest([extent_of(launch, value, node.id, depth + 1) for value in values])


def _speaks_of(value: ast.expr, name: str) -> bool:
    return any(isinstance(inner, ast.Name) and inner.id == name for inner in ast.walk(value))


def _largest(extents: list[Extent | None]) -> Extent | None:
    """The largest; None where one is not known."""
    known = [extent for extent in extents if extent is not None]
    return max(known, key=lambda extent: extent.most) if known and len(known) == len(extents) else None


def _computed(launch: Launch, node: ast.BinOp, name: str, depth: int) -> Extent | None:
    left, right = (extent_of(launch, side, name, depth + 1) for side in (node.left, node.right))
    if isinstance(node.op, ast.FloorDiv):
        return _divided(launch, node, left, right)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Mult):
        if any(map(_counts_chunks, (node.left, node.right))) and _BATCH in (left.most, right.most):
            return Extent(_ROWS // _LEAST_BLOCK)  # all chunks of all sequences, which are no more than the tokens
        return Extent(left.most * right.most, (left.counted or right.counted) and _HEADS not in (left.most, right.most))
    return left if isinstance(node.op, (ast.Add, ast.Sub)) else None


def _counts_chunks(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and _LIKE_CHUNKS.search(node.id) is not None


def _divided(launch: Launch, node: ast.BinOp, left: Extent | None, right: Extent | None) -> Extent | None:
    if right is not None and _is_number(launch, node.right):
        return None if left is None else Extent(left.most // max(right.most, 1), left.counted, max(right.most, 1))
    if _counts_elements(launch, node.left):
        # All elements by some dimensions are the product of the others; by those of a matrix, its number in a batch.
        return Extent(_BATCH) if isinstance(node.right, ast.BinOp) else Extent(_ROWS, True)
    return None if left is None else Extent(left.most // _LEAST_BLOCK, left.counted)


def _counts_elements(launch: Launch, node: ast.expr) -> bool:
    """`x.numel()`, or that by some of the dimensions."""
    node = launch.definition(node)
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        node = launch.definition(node.left)
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "numel"


def _called(launch: Launch, node: ast.Call, name: str, depth: int) -> Extent | None:
    function = node.func.attr if isinstance(node.func, ast.Attribute) else (dotted_name(node.func) or "")
    arguments = [extent_of(launch, argument, name, depth + 1) for argument in node.args]
    if function in ROUNDED_UP and len(node.args) == 2 and arguments[0] is not None:
        known = arguments[1] is not None and _is_number(launch, node.args[1])
        block = max(arguments[1].most, 1) if arguments[1] is not None and known else 1
        return Extent(arguments[0].most // (block if known else _LEAST_BLOCK), arguments[0].counted, block)
    if function == "min":
        return min(filter(None, arguments), key=lambda e: e.most) if all(arguments) and arguments else None
    if function == "max":
        return _largest(arguments)
    if function == "int" and len(arguments) == 1:
        return arguments[0]
    if function == "numel" and not node.args:
        tensor = node.func.value if isinstance(node.func, ast.Attribute) else None
        rank = None if tensor is None else rank_of(launch, tensor)
        return Extent(_ELEMENTS, True) if rank is not None and rank > 1 else None
    if function == "len" and len(node.args) == 1:
        return Extent(_BATCH)
    return _dimension(launch, node, name) if function == "size" and node.args else None


def _is_number(launch: Launch, node: ast.expr) -> bool:
    return all(isinstance(value, ast.Constant) for value in launch.definitions(node))


# -- dimensions of tensors -----------------------------------------------------------------------------------------


def _dimension(launch: Launch, node: ast.Subscript | ast.Call, name: str) -> Extent | None:
    """How large a dimension of a tensor gets, by its place and by what the host code calls it."""
    tensor, index = dimension_of(node)
    if index is not None and _LIKE_FEW.search(name):
        return Extent(_HEADS)
    rank = None if tensor is None else rank_of(launch, tensor)
    if index is None or rank is None or not -rank <= index < rank:
        return None
    place = index % rank
    if rank == 1:
        return None
    if place == rank - 1:
        return Extent(_FEATURES)
    if place == 0:
        return _first_dimension(rank, name)
    return Extent(_POSITIONS, True) if _LIKE_POSITIONS.search(name) else Extent(_HEADS)


def _first_dimension(rank: int, name: str) -> Extent:
    if _LIKE_BATCH.search(name):
        return Extent(_BATCH)
    if rank == 2 or _LIKE_ROWS.search(name):
        return Extent(_ROWS, True)
    return Extent(_BATCH)


def dimension_of(node: ast.expr) -> tuple[ast.expr | None, int | None]:
    """The tensor and the number of the dimension in `x.shape[0]`, `x.size(0)` or a part of an unpacked shape."""
    if isinstance(node, ast.Call):
        tensor = node.func.value if isinstance(node.func, ast.Attribute) else None
        return tensor, _integer(node.args[0]) if node.args else None
    if not isinstance(node, ast.Subscript):
        return None, None
    index, value = _integer(node.slice), node.value
    if isinstance(value, ast.Tuple) and index is not None and value.elts and isinstance(value.elts[0], ast.Starred):
        behind = len(value.elts) - 1
        if index >= -behind:
            return dimension_of(value.elts[index])
        index, value = index + behind, value.elts[0].value
    if isinstance(value, ast.Attribute) and value.attr == "shape":
        return value.value, index
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "size":
        return (value.func.value, index) if not value.args else (None, None)
    return None, None


def _integer(node: ast.expr) -> int | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return value if type(value) is int else None


def asserted_most(launch: Launch, node: ast.expr) -> int | None:
    """The largest number that the wrapper asserts of it: 32 by `assert top_k <= 32`."""
    text, found = ast.unparse(node), []
    for asserted in launch.nodes.of(ast.Assert):
        for test in _all_of(asserted.test):
            if isinstance(test, ast.Compare) and len(test.ops) == 1 and ast.unparse(test.left) == text:
                most = _integer(test.comparators[0])
                if most is not None and isinstance(test.ops[0], (ast.Lt, ast.LtE)):
                    found.append(most - isinstance(test.ops[0], ast.Lt))
    return min(found, default=None)


def _all_of(test: ast.expr) -> list[ast.expr]:
    """What holds together: the parts of `a and b`."""
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def rank_of(launch: Launch, tensor: ast.expr) -> int | None:
    """How many dimensions the wrapper shows the tensor to have: all that it unpacks, else the furthest it asks for."""
    known = known_rank(launch, tensor)
    text = ast.unparse(tensor)
    if known is not None or any(_asks_rank(node, text) for node in launch.nodes.of(ast.Compare)):
        return known
    assert launch.wrapper is not None
    seen = [place for node in ast.walk(launch.wrapper) for place in _asked(node, text)]
    if set(seen) == {0, -1}:
        return 2  # the first and the last, and no other
    furthest = max((-place if place < 0 else place + 1 for place in seen), default=0)
    return furthest if furthest > 1 and len({place % furthest for place in seen}) == furthest else None


def is_last_stride(launch: Launch, node: ast.expr) -> bool:
    """Whether it is `x.stride(-1)`, or the last of the strides of a tensor that the launch is passed."""
    tensor, place = _stride_of(launch.definition(node))
    if tensor is None or place in (None, -1):
        return tensor is not None and place == -1
    rank = rank_of(launch, tensor)
    if rank is not None:
        return place == rank - 1
    text = ast.unparse(tensor)
    others = (_stride_of(launch.definition(other)) for other in launch.arguments.values())
    places = [at for one, at in others if one is not None and at is not None and ast.unparse(one) == text]
    return place == max(places, default=-1) > 0


def _stride_of(node: ast.expr) -> tuple[ast.expr | None, int | None]:
    """`x` and `k` of `x.stride(k)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "stride"):
        return None, None
    return node.func.value, _integer(node.args[0]) if len(node.args) == 1 else None


def known_rank(launch: Launch, tensor: ast.expr) -> int | None:
    """How many dimensions the wrapper says the tensor to have: it lays it out, unpacks all, or asserts their number."""
    laid_out = _laid_out(launch.definition(tensor))
    if laid_out is not None:
        return laid_out
    text = ast.unparse(tensor)
    for node in launch.nodes.of(ast.Assign):
        if isinstance(node.targets[0], (ast.Tuple, ast.List)):
            unpacked = _unpacked(node.targets[0], node.value, text)
            if unpacked is not None:
                return unpacked
    for asserted in launch.nodes.of(ast.Assert):
        for test in ast.walk(asserted.test):
            if isinstance(test, ast.Compare) and _asks_rank(test, text) and isinstance(test.ops[0], ast.Eq):
                return _integer(test.comparators[0])
    return None


def _asks_rank(test: ast.Compare, text: str) -> bool:
    return ast.unparse(test.left) in (f"{text}.dim()", f"{text}.ndim")


def _laid_out(node: ast.expr) -> int | None:
    """The dimensions of `x.reshape(-1, n)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _LAYOUTS):
        return None
    given = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
    return None if len(given) < 2 or any(isinstance(size, ast.Starred) for size in given) else len(given)


def _unpacked(target: ast.Tuple | ast.List, value: ast.expr, text: str) -> int | None:
    count, elements = len(target.elts), value.elts if isinstance(value, ast.Tuple) else [value]
    first = elements[0] if elements else value
    if isinstance(first, ast.Starred):
        first, count = first.value, count - len(elements) + 1
    elif len(elements) != 1 or isinstance(value, ast.Tuple):
        return None
    if any(isinstance(element, ast.Starred) for element in target.elts):
        return None
    return count if ast.unparse(first) in (f"{text}.shape", f"{text}.size()") else None


def _asked(node: ast.AST, text: str) -> Iterator[int]:
    """The dimensions whose size or stride a node asks for."""
    place: int | None = None
    asking = (f"{text}.size", f"{text}.stride")
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) == f"{text}.shape":
        at = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
        place = None if at is None else _integer(at)
    elif isinstance(node, ast.Call) and len(node.args) == 1 and ast.unparse(node.func) in asking:
        place = _integer(node.args[0])
    if place is not None:
        yield place
