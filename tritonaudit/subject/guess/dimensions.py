"""Which dimensions of which tensors are the same, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TypeVar

from tritonaudit.subject.dimension import Dimension, names_in
from tritonaudit.subject.guess.conventions import is_attention, is_offsets, is_weight
from tritonaudit.subject.guess.notes import Note
from tritonaudit.subject.guess.usage import Usage
from tritonaudit.subject.guess.values import Dim, Extent, Formula, Given, Literal
from tritonaudit.subject.size_kind import usual_size

Node = tuple[str, int | None]
"""An axis of a tensor, counted from the first, or a parameter that is a number (None)."""

Fact = TypeVar("Fact")

_ATTENTION = {3: ("batch", "seq", "head_dim"), 4: ("batch", "heads", "seq", "head_dim")}
_HEAD = (64, 128)
_FALLBACK = {1: ("size",), 2: ("rows", "cols"), 3: ("batch", "rows", "cols"), 4: ("batch", "heads", "rows", "cols")}
_INVENTED = {name for names in (*_ATTENTION.values(), *_FALLBACK.values()) for name in names}


def is_invented(dim: Dimension, tensor: str) -> bool:
    """Whether the name of a dimension may be one that it has only for want of one in code and notes."""
    if not isinstance(dim, str):
        return False
    return dim in _INVENTED or any(dim.startswith(f"{tensor}_{name}") for name in _INVENTED)


class Dimensions:
    """The dimensions of all tensors: classes of axes that have one size, with a name or a formula for each."""

    def __init__(self, usage: Usage, notes: Mapping[str, Note], ranks: Mapping[str, int], order: list[str]) -> None:
        self._usage = usage
        self._ranks = ranks
        self._order = order
        self._parent: dict[Node, Node] = {}
        self._numbers: dict[Node, int] = {}
        self._allowed: dict[Node, tuple[int, ...]] = {}
        self._most: dict[Node, int] = {}
        self._formulas: dict[Node, Formula] = {}
        self._written: dict[Node, str] = {}
        self._votes: dict[Node, Counter[str]] = {}
        self._join_shapes()
        self._join_equal()
        self._learn_names()
        self._learn_notes(notes)
        self._join_bounded()
        self._join_unknown()
        self._names = self._choose_names()

    def of(self, tensor: str) -> tuple[Dimension, ...]:
        """The dimensions of a tensor."""
        return tuple(self._dimension((tensor, axis)) for axis in range(self._ranks[tensor]))

    def is_shared(self, tensor: str) -> bool:
        """Whether another tensor has a dimension of this one too."""
        nodes = [(tensor, axis) for axis in range(self._ranks[tensor])]
        return any(member[0] != tensor for node in nodes for member in self._members(node))

    def of_number(self, parameter: str) -> Dimension | None:
        """The dimension that a parameter which is a number gives the size of."""
        is_shared = any(axis is not None for _, axis in self._members((parameter, None)))
        return self._dimension((parameter, None)) if is_shared else None

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """The sizes to which the code restricts dimensions, the usual one first.

        The last dimension of attention's tensors is that of a head, of which a block holds all.
        """
        found: dict[str, tuple[int, ...]] = {}
        for node, allowed in self._allowed.items():
            if (name := self._names.get(self._find(node))) is not None and len(allowed) > 1:
                found[name] = tuple(sorted(allowed, key=lambda size: (size != 64, size != 128, size))[:3])
        for node, most in self._most.items():
            if (name := self._names.get(self._find(node))) is not None and most < usual_size(name):
                found.setdefault(name, tuple(size for size in (64, 128) if size <= most) or (most,))
        for tensor in self._order:
            if is_attention(tensor) and self._ranks[tensor] >= 3:
                name = self._names.get(self._find((tensor, self._ranks[tensor] - 1)))
                if name is not None and usual_size(name) > _HEAD[0]:
                    found.setdefault(name, _HEAD)
        return found

    # -- joining -----------------------------------------------------------------------------------------------------

    def _find(self, node: Node) -> Node:
        while self._parent.setdefault(node, node) != node:
            node = self._parent[node]
        return node

    def _join(self, one: Node, other: Node) -> None:
        one, other = self._find(one), self._find(other)
        if one != other:
            self._parent[other] = one

    def _members(self, node: Node) -> list[Node]:
        """All that have the size of this one, itself included."""
        root = self._find(node)
        return [other for other in list(self._parent) if self._find(other) == root]

    def _known(self, table: Mapping[Node, Fact], node: Node) -> Fact | None:
        """What the table says of an axis, or of one that has its size."""
        return next((table[member] for member in self._members(node) if member in table), None)

    def _node(self, extent: object) -> Node | None:
        if isinstance(extent, Given):
            return (extent.name, None)
        if not isinstance(extent, Dim) or extent.of not in self._ranks:
            return None
        rank = self._ranks[extent.of]
        axis = extent.axis + rank if extent.axis < 0 else extent.axis
        return (extent.of, axis) if 0 <= axis < rank else None

    def _join_shapes(self) -> None:
        for one, other, but_last in self._usage.same_shape:
            if self._ranks.get(one) == self._ranks.get(other) is not None:
                for axis in range(self._ranks[one] - but_last):
                    self._join((one, axis), (other, axis))

    def _join_equal(self) -> None:
        for one, other in self._usage.equal:
            node = self._node(one)
            if node is None:
                continue
            if isinstance(other, Literal) and isinstance(other.value, int):
                self._numbers.setdefault(node, other.value)
            elif isinstance(other, Formula):
                self._formulas.setdefault(node, other)
            elif (second := self._node(other)) is not None:
                self._join(node, second)
        for tensor, use in self._usage.parameters.items():
            for axis, allowed in use.allowed.items():
                if (node := self._node(Dim(tensor, axis))) is not None:
                    self._allowed.setdefault(node, allowed)
            for axis, most in use.most.items():
                if (node := self._node(Dim(tensor, axis))) is not None:
                    self._most.setdefault(node, most)

    def _join_bounded(self) -> None:
        """An axis is as long as what bounds the accesses to it, where that contradicts nothing."""
        for dim, extent in self._usage.bounded:
            one, other = self._node(dim), self._node(extent)
            if one is None or other is None or self._find(one) == self._find(other):
                continue
            tensors = [{name for name, axis in self._members(node) if axis is not None} for node in (one, other)]
            names = [
                {name for member in self._members(node) for name in self._votes.get(member, ())}
                for node in (one, other)
            ]
            if not tensors[0] & tensors[1] and not (all(names) and not names[0] & names[1]):
                self._join(one, other)

    def _join_unknown(self) -> None:
        """An axis of which nothing is known is that of another tensor of this rank, for weights that of its rows."""
        unknown = [
            (tensor, axis)
            for tensor in self._order
            if not is_offsets(tensor)
            for axis in range(self._ranks[tensor])
            if not self._is_linked((tensor, axis))
        ]
        for tensor, axis in unknown:
            alike = [other for other in self._order if other != tensor and self._ranks[other] == self._ranks[tensor]]
            alike.sort(key=lambda other: other != tensor.replace("sin", "cos"))
            known = [other for other in alike if (other, axis) not in unknown]
            chosen = next((o for o in (*known, *alike) if not self._has((o, axis), tensor)), None)
            if chosen is not None:
                self._join((chosen, axis), (tensor, axis))
            elif self._ranks[tensor] == 1 and tensor != self._order[0] and is_weight(tensor, self._order):
                first = self._order[0]
                self._join((first, self._ranks[first] - 1), (tensor, axis))

    def _has(self, node: Node, tensor: str) -> bool:
        """Whether an axis of the tensor is known to have the size of this one."""
        return any(member[0] == tensor for member in self._members(node))

    def _is_linked(self, node: Node) -> bool:
        tables = (self._votes, self._numbers, self._formulas, self._written)
        return len(self._members(node)) > 1 or any(node in table for table in tables)

    # -- naming ------------------------------------------------------------------------------------------------------

    def _learn_names(self) -> None:
        """A name that two axes are given is one dimension, unless one tensor has it twice."""
        first: dict[str, Node] = {}
        for tensor in self._order:
            for axis, rank, name in self._usage.of(tensor).names:
                node = self._node(Dim(tensor, axis))
                if node is None or rank not in (None, self._ranks[tensor]):
                    continue
                self._vote(node, name, 3)
                if first.setdefault(name, node)[0] != node[0]:
                    self._join(first[name], node)
        for parameter in self._usage.parameters:
            if parameter in first:
                self._join(first[parameter], (parameter, None))

    def _learn_notes(self, notes: Mapping[str, Note]) -> None:
        for tensor in self._order:
            note = notes.get(tensor)
            rank = self._ranks.get(tensor, 0)
            if note is None or note.dims is None or not (len(note.dims) == rank or note.is_partial):
                continue
            for place, dim in enumerate(reversed(note.dims)):
                if place < rank:
                    self._note((tensor, rank - 1 - place), dim)

    def _note(self, node: Node, dim: Dimension) -> None:
        if isinstance(dim, int):
            self._numbers.setdefault(node, dim)
        elif dim.isidentifier():
            self._vote(node, dim, 2)
            same = next((n for n, votes in self._votes.items() if dim in votes and n[0] != node[0]), None)
            if same is not None:
                self._join(same, node)
            if dim in self._usage.parameters and dim not in self._ranks:
                self._join(node, (dim, None))
        else:
            self._written.setdefault(node, dim)

    def _vote(self, node: Node, name: str, weight: int) -> None:
        self._votes.setdefault(node, Counter())[name] += weight

    def _choose_names(self) -> dict[Node, str]:
        """A name for each class of axes: what most call it, or what a tensor of its rank usually has there."""
        chosen: dict[Node, str] = {}
        written = {name for votes in self._votes.values() for name in votes}
        for node in ((tensor, axis) for tensor in self._order for axis in range(self._ranks[tensor])):
            root = self._find(node)
            if root in chosen or self._known(self._numbers, node) is not None:
                continue
            votes: Counter[str] = Counter()
            for member in self._members(node):
                votes.update(self._votes.get(member, {}))
                if member[1] is None:
                    votes[member[0]] += 4
            usual = (name for name in self._usual(node) if name not in written)
            options = (*(name for name, _ in votes.most_common()), *usual)
            chosen[root] = next(name for name in options if name not in chosen.values())
        return chosen

    def _usual(self, node: Node) -> Iterator[str]:
        tensor, axis = node
        assert axis is not None
        rank = self._ranks[tensor]
        usual = _ATTENTION if is_attention(tensor) and rank in _ATTENTION else _FALLBACK
        name = usual[rank][axis] if rank in usual else f"dim{axis}"
        yield from (name, f"{tensor}_{name}", *(f"{tensor}_{name}_{n}" for n in range(2, 99)))

    # -- dimensions --------------------------------------------------------------------------------------------------

    def _dimension(self, node: Node, depth: int = 0) -> Dimension:
        if (number := self._known(self._numbers, node)) is not None:
            return number
        name = self._names[self._find(node)]
        written, formula = self._known(self._written, node), self._known(self._formulas, node)
        is_named = any(self._votes.get(member) for member in self._members(node))
        others = set(self._names.values()) - {name}
        if written is not None and not is_named and others.issuperset(names_in(written)):
            return written
        if formula is not None and depth < 3 and not self._mentions(formula, node):
            return self._rendered(formula, depth + 1) or name
        return name

    def _mentions(self, formula: Extent, node: Node) -> bool:
        if isinstance(formula, Formula):
            return self._mentions(formula.left, node) or self._mentions(formula.right, node)
        other = self._node(formula)
        return other is not None and self._find(other) == self._find(node)

    def _rendered(self, extent: Extent, depth: int) -> str | None:
        """A formula in the names of dimensions; None where a part of it is not a dimension."""
        if isinstance(extent, Literal):
            return str(extent.value)
        if isinstance(extent, Formula):
            left, right = self._rendered(extent.left, depth), self._rendered(extent.right, depth)
            if left is None or right is None:
                return None
            left, right = (part if part.isalnum() or part.isidentifier() else f"({part})" for part in (left, right))
            return f"-(-{left} // {right})" if extent.operator == "cdiv" else f"{left} {extent.operator} {right}"
        node = self._node(extent)
        if node is None or all(axis is None for _, axis in self._members(node)):
            return None
        return str(self._dimension(node, depth))
