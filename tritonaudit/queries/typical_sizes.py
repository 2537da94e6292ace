"""How large the numbers of a kernel become in real use: a rule of thumb, by what they are and by what they are called.

The figures are powers of two: large ones of models that are trained and served today, and such that all may meet in one
tensor: a million tokens, 32 sequences of 131,072, 64 heads of 128 features, 8,192 features, a vocabulary of 131,072.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from tritonaudit.domains.affine import GIVEN, JOINED, LOADED, Affine, Atom, Kind
from tritonaudit.domains.affine import Product as Term
from tritonaudit.kernel.extents import asserted_most, rank_of
from tritonaudit.kernel.launch import ROUNDED_UP, Launch, LaunchFacts

TYPICAL: tuple[tuple[str, int], ...] = (
    (r"(n|num)?_?(q|k|v|kv|query|key)?_?(h|heads?)_?(q|k|v|kv|num)?", 6),
    (r"(n|num)?_?(groups?|g|experts?|e|top_?k|splits?|s|levels?|layers?)", 6),
    (r"(b|bs|z|n?batch(es)?(_size)?|num_?batch(es)?|batch_dim)", 5),
    (r"(n|num)?_?(rows?|tokens?|m|total\w*)", 20),
    (r"(t|l|seq\w*|(\w_)?n?_?ctx\w*|max_?seq\w*)", 17),
    (r"(n|num)?_?(chunks?|nt|blocks?|tiles?|pages?)", 11),
    (r"(d|dk|dv|d_?head|head_?(dim|size)\w*|dhead|\w*_head_?dim)", 7),
    (r"(bt|bc|bs|bk|bv|bm|bn|bq|(page|block|chunk|tile|group)_?(size)?_?\w?)", 7),
    (r"(k|n|n_cols|cols?|hidden\w*|c|features?|embed\w*|in_features|out_features|inter\w*)", 13),
    (r"(vocab\w*|n_?vocab\w*|num_classes)", 17),
    (r"(h(ei)?ght|width|[ho]w|[io]h|iw|[hw]_?(in|out)|image\w*)", 9),
    (r"(n|num|total)?_?(seqs|sequences|reqs?|requests)", 10),
    (r"(n|num)?_?(box(es)?|anchors?|labels?)", 13),
    (r"(n|num)?_?bins?", 8),
    (r"(n|num)?_?passes", 3),
    (r"\w*scales?_?\w*stride\w*|\w*stride\w*_?scales?\w*|stride_?[abqkvx]?s_?\w|\w*stride\w*_meta\w*", 7),
    (r"\w*stride\w*_(b|z|batch|page|block|cache|0)|\w*_?(b|batch|page|block)_?stride", 27),
    (r"\w*stride_?[qkvo]?(h|head)|\w*_?head_?stride", 20),
    (r"\w*stride\w*", 13),
)
"""The pattern that the whole of a name in lower case matches, and the power of two; the first that matches counts."""

_HEADS, _BATCH = TYPICAL[0][0], TYPICAL[2][0]
_HEAD_FEATURES = 7
_OF_A_HEAD = re.compile(r"k|v|n|d|c|s|dim|hidden\w*|features?")
"""What beside a number of heads counts the features of one."""

_PATTERNS = tuple((re.compile(pattern), bits) for pattern, bits in TYPICAL)
_TILE = re.compile(r"block(?!s)|tile(?!s)|group_?(size|[a-z]$)|^b[a-z]$")
_OTHER, _PROGRAMS, _SEQUENCES, _TILES, _LOADED, _BLOCK, _TURNS, _PARTS, _PACKED = 6, 12, 5, 10, 20, 7, 11, 3, 10
_UNROLLED, _OF_AXIS, _STEP = 4, 8, 2
_ELEMENTS, _ROWS, _COLUMNS, _POSITIONS = 33, 20, 13, 17
"""Powers of two: of what has another name, of program ids, and so on; of a tensor's elements, rows and columns."""


_FEW_BITS = 8


def bits_of_name(name: str) -> float:
    """The power of two that a parameter of this name comes to."""
    plain = name.lower().removeprefix("_")
    return next((bits for pattern, bits in _PATTERNS if pattern.fullmatch(plain)), _OTHER)


def _is_known(name: str) -> bool:
    plain = name.lower().removeprefix("_")
    return any(pattern.fullmatch(plain) for pattern, _ in _PATTERNS)


def counts_positions(name: str) -> bool:
    """Whether a parameter of this name is a number of rows, tokens or positions, and no stride."""
    return "stride" not in name.lower() and bits_of_name(name) >= _POSITIONS


def tells_of_many(name: str) -> bool:
    """Whether the name says that it counts rows, tokens or positions."""
    return _is_known(name) and bits_of_name(name) >= _POSITIONS


def tells_of_few(name: str) -> bool:
    """Whether the name says that it counts sequences, heads, experts or the like."""
    return _is_known(name) and bits_of_name(name) <= _FEW_BITS


class TypicalSizes:
    """How large the atoms of one kernel become."""

    def __init__(self, launches: LaunchFacts, blocks: frozenset[Atom], unrolled: frozenset[Atom]) -> None:
        self._launches = launches
        self._blocks = blocks
        self._unrolled = unrolled
        self._known: dict[Atom, float] = {}
        self._joins_positions: dict[Atom, bool] = {}

    def of_term(self, term: Term, factor: int) -> float:
        """The power of two that the product comes to."""
        return sum(self.of_factor(atom, term) for atom in term) + math.log2(abs(factor) or 1)

    def of_factor(self, atom: Atom, term: Term) -> float:
        """The power of two that the atom comes to in this product.

        A tile's number is less than a row's; a program by whose number positions are multiplied is for a sequence.
        """
        if atom.kind in GIVEN and self._is_of_a_head(atom.name.lower(), term):
            return _HEAD_FEATURES
        bits = self.of_atom(atom)
        is_unknown_program = atom.kind is Kind.PID and bits == _PROGRAMS
        if atom.kind not in GIVEN and any(self._counts_positions(other) for other in term if other is not atom):
            if any(map(_counts_sequences, term)):
                return min(bits, _PARTS)  # of all tokens
            if is_unknown_program:
                return _SEQUENCES
        if atom.kind not in GIVEN and self.is_of_few(term):
            return min(bits, _OTHER)
        if atom.kind not in GIVEN and any(_OF_BATCHES.fullmatch(other.name.lower()) for other in term):
            return min(bits, _PACKED)
        is_number = is_unknown_program or atom.kind is Kind.OPAQUE or (atom.kind is Kind.LOOP and atom.stop is None)
        return min(bits, _TILES) if is_number and any(map(self.is_tile, term)) else bits

    def packing(self, term: Term) -> float:
        """By how much sequences times their length are more than the tokens that all of them have."""
        lengths = [bits for atom in term if self._counts_positions(atom) and (bits := self.of_atom(atom)) < _ROWS]
        numbers = [atom for atom in term if _counts_sequences(atom)] or [atom for atom in term if atom.kind is Kind.PID]
        number = max((self.of_factor(atom, term) for atom in numbers), default=0.0)
        return max(0.0, max(lengths) + number - _ROWS) if lengths else 0.0

    def _is_of_a_head(self, name: str, term: Term) -> bool:
        """Whether it counts the features of a head: there are heads in the product, or `K` and `V` beside heads."""
        if _OF_A_HEAD.fullmatch(name) and any(map(_counts_heads, term)):
            return True
        return name in _FEATURES_OF_A_HEAD and self._launches.has_parameter(_NUMBER_OF_HEADS)

    def _counts_positions(self, atom: Atom) -> bool:
        if atom.name == JOINED:
            known = self._joins_positions.get(atom)
            if known is None:  # asked once of each: what loops set again and again is joined of itself many times over
                known = any(self._counts_positions(inner) for part in atom.inner for inner in part.atoms())
                self._joins_positions[atom] = known
            return known
        return atom.kind in GIVEN and "stride" not in atom.name.lower() and self.of_atom(atom) >= _POSITIONS

    def is_of_few(self, term: Term) -> bool:
        """Whether the product has the stride of experts, heads or groups."""
        return any(atom.kind in GIVEN and _FEW.fullmatch(atom.name.lower()) for atom in term)

    def is_tile(self, atom: Atom) -> bool:
        """Whether it is the size of a tile, or of a group of tiles."""
        return atom.kind in GIVEN and (atom in self._blocks or _TILE.search(atom.name.lower()) is not None)

    def of_atom(self, atom: Atom) -> float:
        """The power of two that the atom comes to."""
        known = self._known.get(atom)
        if known is None:
            known = self._known[atom] = self._estimate(atom)
        return known

    def _estimate(self, atom: Atom) -> float:
        if atom.kind in GIVEN:
            return self._of_parameter(atom)
        if atom.kind is Kind.PID:
            return self._of_program(atom)
        if atom.kind is Kind.LANE:
            return self._of_polynomial(atom.size) if atom.size is not None else _BLOCK
        if atom.kind is Kind.LOOP:
            return self._of_turns(atom)
        return self._of_value(atom)

    def _of_parameter(self, atom: Atom) -> float:
        numbers = [size.value for size in self._launches.sizes(atom.name)]
        if numbers and all(number is not None for number in numbers):
            return math.log2(max(1, *(number for number in numbers if number is not None)))
        if self.is_tile(atom):
            return _BLOCK
        if atom in self._unrolled:
            return _UNROLLED
        named = bits_of_name(atom.name)
        if "stride" in atom.name.lower():
            return 0.0 if self._is_innermost(atom.name) else _STEP if self._is_step(atom.name.lower()) else named
        limit = self._asserted(atom.name)
        if limit is not None:
            return limit
        if self._counts_tiles(atom.name):
            return min(named, _TILES)
        passed = max(self._passed(atom.name), default=named)
        if named >= _ROWS and self._launches.is_named(_OF_WEIGHTS):
            return _COLUMNS
        says_little = not _is_known(atom.name) or atom.name in ("d", "D") or named >= _ROWS
        return passed if says_little or passed >= _ELEMENTS else named

    def _counts_tiles(self, parameter: str) -> bool:
        """Whether the launches say that it is something divided by the size of a tile."""
        passed = [(launch, launch.arguments.get(parameter)) for launch in self._launches.launches]
        values = [value for launch, node in passed if node is not None for value in launch.definitions(node)]
        return bool(values) and all(map(_is_of_tiles, values))

    def _passed(self, parameter: str) -> Iterator[float]:
        """What the launches say of a number whose name says little: of elements, of the rows of some tensor."""
        for launch in self._launches.launches:
            node = launch.arguments.get(parameter)
            for value in () if node is None else launch.definitions(node):
                found = _of_host(launch, value)
                if found is not None and not isinstance(value, (ast.Name, ast.Constant)):
                    is_guess = _COLUMNS < found < _ELEMENTS and not _is_known(parameter)
                    yield _COLUMNS if is_guess and ast.unparse(value).endswith("[-2]") else found

    def _is_step(self, parameter: str) -> bool:
        """Whether it is how far a window moves: there is a `padding_w` or a `dilation_w` beside `stride_w`."""
        other = re.compile(re.escape(parameter).replace("stride", "(pad|padding|dilation)"))
        return self._launches.has_parameter(other)

    def _asserted(self, parameter: str) -> float | None:
        """The power of two of what every launch's wrapper asserts to be the most that it passes."""
        found = [
            None if (node := launch.arguments.get(parameter)) is None else asserted_most(launch, node)
            for launch in self._launches.launches
        ]
        numbers = [number for number in found if number is not None]
        return math.log2(max(1, *numbers)) if numbers and len(numbers) == len(found) else None

    def _is_innermost(self, parameter: str) -> bool:
        """Whether every launch passes the stride of a last dimension, which is 1 as a rule."""
        passed = [launch.arguments.get(parameter) for launch in self._launches.launches]
        return bool(passed) and all(node is not None and _LAST_STRIDE.search(ast.unparse(node)) for node in passed)

    def _of_program(self, atom: Atom) -> float:
        return _PROGRAMS if atom.grid_axis is None else self._of_axis(atom.grid_axis, _PROGRAMS)

    def _of_axis(self, axis: int, unknown: float = _OF_AXIS) -> float:
        launches = [launch for launch in self._launches.launches if axis < len(launch.axes)]
        found = (_of_axis(launch, launch.axes[axis]) for launch in launches)
        return max((bits for bits in found if bits is not None), default=unknown)

    def is_capped(self, atom: Atom) -> bool:
        """Whether a program id's axis of the grid is the lesser of sizes, as where programs loop over their share."""
        if atom.kind is not Kind.PID or atom.grid_axis is None:
            return False
        axes = [launch.axes[atom.grid_axis] for launch in self._launches.launches if atom.grid_axis < len(launch.axes)]
        return any(isinstance(axis, ast.Call) and ast.unparse(axis.func) == "min" for axis in axes)

    def _of_turns(self, atom: Atom) -> float:
        if atom.stop is None:
            return _TURNS
        step = self._of_polynomial(atom.step) if atom.step is not None else 0.0
        stop = self._of_polynomial(atom.stop)
        is_length = any(inner.name == LOADED for inner in atom.stop.atoms())
        return max(0.0, (min(stop, _POSITIONS) if is_length else stop) - step)

    def _of_value(self, atom: Atom) -> float:
        if atom.name.startswith(COUNT_OF_PROGRAMS):
            return self._of_axis(int(axis)) if (axis := atom.name[len(COUNT_OF_PROGRAMS) : -1]).isdigit() else _OF_AXIS
        parts = [self._of_polynomial(part) for part in atom.inner]
        if atom.name == LOADED or not parts:
            return _LOADED if atom.name == LOADED else _TURNS
        if atom.name == "Modulo" and len(parts) > 1 and parts[1] >= _ROWS and atom.inner[0].lanes():
            return parts[1]  # `rows % M`: tiles of all the rows
        if atom.name in ("Modulo", "minimum") and len(parts) > 1:
            return min(parts)
        if atom.name in ("FloorDivide", "cdiv") and len(parts) == 2:
            return max(0.0, parts[0] - parts[1])
        return max(parts)

    def _of_polynomial(self, polynomial: Affine) -> float:
        bits = max((self.of_term(term, factor) for term, factor in polynomial.terms.items()), default=0.0)
        return min(bits, _POSITIONS) if _is_difference_of_loaded(polynomial) else bits


def _counts_sequences(atom: Atom) -> bool:
    return atom.kind in GIVEN and re.fullmatch(_BATCH, atom.name.lower()) is not None


def _is_difference_of_loaded(polynomial: Affine) -> bool:
    """`end - start` of a sequence, both loaded."""
    signs = {factor > 0 for term, factor in polynomial.terms.items() if len(term) == 1 and term[0].name == LOADED}
    return len(signs) == 2


def _counts_heads(atom: Atom) -> bool:
    name = atom.name.lower()
    return atom.kind in GIVEN and (name == "v" or re.fullmatch(_HEADS, name) is not None)


COUNT_OF_PROGRAMS = "tl.num_programs("

_AMBIGUOUS = frozenset("ncs")
"""In a grid, `N` counts sequences as often as features."""

_FEW = re.compile(r"\w*stride\w*_(e|experts?|h|heads?|g|groups?|splits?)")
"""The strides of what there are few of."""

_LAST_STRIDE = re.compile(r"\.stride\(-1\)$")
_OF_BATCHES = re.compile(r"\w*stride\w*_(b|z|batch)|\w*_?(b|batch)_?stride")

_OF_WEIGHTS = re.compile(r"weight_?norm")
"""A kernel whose rows are those of one weight."""
_NUMBER_OF_HEADS = re.compile(r"(n|num)_?(q|kv)?_?(h|heads)|(q|kv)?_?(h|heads)_?(q|kv)?")
_FEATURES_OF_A_HEAD = frozenset({"k", "v", "dk", "dv"})
_SMALL = re.compile(
    r"(^|_)(\w*weights?\w*|filters?|scales?|bias|ids|idx|ind\w*|locs?|lens?|masks?|cu_\w*|\w*(ids|lens))$|^q?w(_\w+)?$"
)
"""Tensors that have fewer rows and elements than what a model computes with them."""


_HOPS = 6


def _of_axis(launch: Launch, node: ast.expr) -> float | None:
    """The power of two that an axis of a grid comes to: what its name says, or what the name was set to."""
    if isinstance(node, ast.Name) and node.id.lower() not in _AMBIGUOUS and _is_known(node.id):
        return _of_name(launch, node)
    return _of_host(launch, launch.definition(node))


def _of_host(launch: Launch, node: ast.expr, hops: int = _HOPS) -> float | None:
    """The power of two that an expression of the host code comes to; None where nothing of it is known.

    So many names are followed one after the other.
    """
    if isinstance(node, ast.Constant):
        return math.log2(node.value) if isinstance(node.value, int) and node.value > 0 else None
    if isinstance(node, ast.Name):
        return None if node.id.lower() in _AMBIGUOUS else _of_name(launch, node, hops)
    if isinstance(node, ast.BinOp):
        return _of_operation(launch, node, hops)
    if isinstance(node, ast.Call):
        return _of_call(launch, node, hops)
    if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape":
        return _of_dimension(launch, node.value.value, node.slice)
    return None


def _of_name(launch: Launch, node: ast.Name, hops: int = _HOPS) -> float:
    """What the name says; rows of a small tensor are few, whatever they are called."""
    bits, value = bits_of_name(node.id), launch.definition(node)
    is_asked = hops > 0 and bits >= _ROWS and value is not node
    return min(bits, _of_host(launch, value, hops - 1) or bits) if is_asked else bits


def _of_dimension(launch: Launch, tensor: ast.expr, index: ast.expr) -> float | None:
    """The first dimension of a matrix has its rows, that of a tensor of more dimensions has sequences."""
    place = ast.unparse(index)
    if place not in ("0", "1", "-1", "-2"):
        return None
    rank = None if launch.wrapper is None else rank_of(launch, tensor)
    if place == "0" or (place == "-2" and rank == 2):
        return _COLUMNS if _is_small(tensor) else _ROWS if rank is None or rank < 3 else _SEQUENCES
    is_last = place == "-1" or (place == "1" and rank == 2)
    return _COLUMNS if is_last and not _is_small(tensor) else None


def _is_small(tensor: ast.expr) -> bool:
    return _SMALL.search(ast.unparse(tensor).lower()) is not None


def _of_operation(launch: Launch, node: ast.BinOp, hops: int) -> float | None:
    left, right = _of_host(launch, node.left, hops), _of_host(launch, node.right, hops)
    if left is None or right is None:
        return None
    if isinstance(node.op, ast.Mult):
        return left + right
    if isinstance(node.op, ast.FloorDiv):
        return max(0.0, left - right)
    return max(left, right) if isinstance(node.op, (ast.Add, ast.Sub)) else None


def _is_of_tiles(node: ast.expr) -> bool:
    """`(n + BLOCK - 1) // BLOCK`, or that by a function."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv):
        return _TILE.search(ast.unparse(node.right).lower()) is not None
    if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(ROUNDED_UP) and len(node.args) == 2:
        return _TILE.search(ast.unparse(node.args[1]).lower()) is not None
    return False


def _of_call(launch: Launch, node: ast.Call, hops: int) -> float | None:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name == "numel" and isinstance(node.func, ast.Attribute):
        return _POSITIONS if _is_small(node.func.value) else _ELEMENTS
    if name == "size" and isinstance(node.func, ast.Attribute) and node.args:
        return _of_dimension(launch, node.func.value, node.args[0])
    sizes = [bits for argument in node.args if (bits := _of_host(launch, argument, hops)) is not None]
    if name.endswith(ROUNDED_UP) and len(node.args) == 2 and sizes:
        return max(0.0, sizes[0] - (_BLOCK if len(sizes) < 2 else min(sizes[1], _BLOCK)))
    if name == "min" and sizes:
        return min(sizes)
    return max(sizes) if name == "max" and sizes else None
