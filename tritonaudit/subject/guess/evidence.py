"""What the kernels that a wrapper launches say about its parameters."""

from __future__ import annotations

from tritonaudit.subject.guess.notes import Note, notes_on
from tritonaudit.subject.guess.roles import GRID, KernelRoles, Role
from tritonaudit.subject.guess.usage import Passed, Usage
from tritonaudit.subject.guess.values import Absent, Count, Dim, Formula, Given, Literal, Stride


class KernelEvidence:
    """Adds to what is known of parameters what kernels do with them.

    `indices` are the tensors that hold indices, `selects` what these choose from: a tensor, and the stride or size
    that they are multiplied by (None: they only bound lanes). `integers` are the dtypes that tensors must have for
    what is done with them, `numbers` the parameters that kernels take as numbers.
    """

    def __init__(self, usage: Usage, notes: dict[str, Note], roles: KernelRoles) -> None:
        self._usage = usage
        self._notes = notes
        self._roles = roles
        self.indices: set[str] = set()
        self.selects: dict[str, list[tuple[str, object]]] = {}
        self.integers: dict[str, str] = {}
        self.numbers: set[str] = set()
        for passed in usage.passed:
            self._learn(passed)

    def _learn(self, passed: Passed) -> None:
        kernel = passed.site.kernel
        roles = self._roles.of(kernel)
        notes = notes_on(kernel.module, kernel.jit.node)
        for parameter, value in passed.arguments.items():
            role = roles.get(parameter)
            if isinstance(value, Absent) and role is not None:
                self._usage.of(value.name).is_needed |= role.is_always
            if isinstance(value, Given) and role is None:
                self.numbers.add(value.name)
            if isinstance(value, Given) and role is not None:
                if parameter in notes:
                    self._notes.setdefault(value.name, notes[parameter])
                self._learn_role(value, role, passed)

    def _learn_role(self, given: Given, role: Role, passed: Passed) -> None:
        name, use = given.name, self._usage.of(given.name)
        use.is_tensor = True
        use.is_written |= role.is_written and given.is_itself
        if role.is_index:
            self.indices.add(name)
        if role.dtype is not None and given.is_itself:
            self.integers[name] = role.dtype
        for target, factor in role.selects.items():
            if isinstance(tensor := passed.arguments.get(target), Given):
                chosen = None if factor is None else passed.arguments.get(factor, Literal(1))
                self.selects.setdefault(name, []).append((tensor.name, chosen))
        if given.sizes is None:
            self._learn_extents(name, role, passed)

    def _learn_extents(self, tensor: str, role: Role, passed: Passed) -> None:
        """What bounds the accesses to a tensor says how long its axes are."""
        extents = {name: _extent(bounds, passed) for name, bounds in role.extents.items()}
        if role.is_one:
            self._usage.equal.append((Dim(tensor, 0), Literal(1)))
            self._usage.axis(tensor, 0)
        elif set(extents) == {""}:
            self._flat(tensor, extents[""])
        else:
            self._strided(tensor, extents, passed)

    def _strided(self, tensor: str, extents: dict[str, object], passed: Passed) -> None:
        """Each stride is that of an axis; lanes that are neighbours lie on one more, the last."""
        strides = {name: passed.arguments.get(name) for name in extents if name}
        known = [s.axis for s in strides.values() if isinstance(s, Stride) and s.of == tensor]
        for name, stride in strides.items():
            if isinstance(stride, Stride) and stride.of == tensor:
                self._usage.axis(tensor, stride.axis)
                self._bound(Dim(tensor, stride.axis), extents[name])
        if "" in extents:
            self._bound(Dim(tensor, -1), extents[""])
            first = [axis for axis in known if axis >= 0]
            self._usage.axis(tensor, max(first, default=0) + 1 if len(first) == len(strides) else -2)

    def _flat(self, tensor: str, extent: object) -> None:
        """A tensor without strides has as many elements as bound its accesses."""
        use = self._usage.of(tensor)
        if use.axes or use.ranks:
            return
        if isinstance(extent, Count):
            self._usage.same_shape.append((tensor, extent.of, 0))
        elif isinstance(extent, (Dim, Given, Formula)):
            self._usage.equal.append((Dim(tensor, 0), extent))
        if isinstance(extent, (Dim, Given)) or tensor in self.indices:
            self._usage.axis(tensor, 0)

    def _bound(self, dim: Dim, extent: object) -> None:
        if isinstance(extent, (Dim, Given)) and extent != dim:
            self._usage.bounded.append((dim, extent))


def _extent(bounds: set[str], passed: Passed) -> object:
    """What all accesses along an axis are bounded by."""
    if len(bounds) != 1:
        return None
    (bound,) = bounds
    if not bound.startswith(GRID):
        return passed.arguments.get(bound)
    axis = int(bound.removeprefix(GRID))
    return passed.grid[axis] if axis < len(passed.grid) else None
