"""Tensors whose elements a kernel looks for without the strides that the tensor has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tritonaudit.domains.affine import GIVEN, Affine, Kind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.kernel.launch import Launch
from tritonaudit.kernel.tensors import (
    Given,
    Gradient,
    allocation,
    given_to,
    gradient,
    is_laid_out_elsewhere,
    may_lie_anyhow,
    speaks_of_layout,
    stride_owners,
)
from tritonaudit.queries.updates import parameter_of

_MOVING = (Kind.PID, Kind.LANE, Kind.LOOP, Kind.OPAQUE)
_Accesses = list[tuple[Access, list[frozenset[str]]]]  # each with the terms of its address


@dataclass(frozen=True, eq=False)
class Misaddressed:
    """The launch passes a tensor as `argument`, and `access` finds its elements by other strides than its own.

    `owner` is the tensor whose strides they are; without one, the elements are taken to lie side by side, and if
    `partly`, then along one dimension only. `gradient` is the tensor where autograd made it, `made` what did otherwise.
    """

    argument: ast.expr
    access: Access
    owner: str | None
    gradient: Gradient | None = None
    partly: bool = False
    made: ast.Call | None = None


def misaddressed(flow: KernelFlow) -> Iterator[Misaddressed]:
    """The tensors of the launches that may lie in memory otherwise than the kernel assumes."""
    for launch in flow.launches.launches:
        if not launch.is_open and launch.wrapper is not None and not launch.is_superseded:
            reader = _Reader(flow, launch)
            for parameter, argument in launch.arguments.items():
                found = reader.read(parameter, argument)
                if found is not None:
                    yield found


class _Reader:
    """Reads the addresses of one kernel as one launch makes them."""

    def __init__(self, flow: KernelFlow, launch: Launch) -> None:
        self._flow = flow
        self._launch = launch
        self._known: dict[str, frozenset[str]] = {}

    @cached_property
    def _accesses(self) -> dict[str, _Accesses]:
        """The accesses by the parameter, where the addresses of all can be read."""
        found: dict[str, _Accesses] = {}
        unread: set[str] = set()
        for access in self._flow.accesses:
            parameter, terms = parameter_of(access), _terms(access)
            if parameter is not None and terms is not None:
                found.setdefault(parameter, []).append((access, terms))
            elif parameter is not None:
                unread.add(parameter)
        return {parameter: accesses for parameter, accesses in found.items() if parameter not in unread}

    def _owners(self, name: str) -> frozenset[str]:
        """Whose strides a parameter of the kernel is made of."""
        if name not in self._known:
            node = self._launch.arguments.get(name)
            self._known[name] = frozenset() if node is None else stride_owners(self._launch, node)
        return self._known[name]

    def _is_untold(self, name: str) -> bool:
        """Whether the parameter is called a stride, of a tensor that only the wrapper's caller knows."""
        node = self._launch.arguments.get(name)
        if "stride" not in name.lower() or node is None or self._owners(name):
            return False
        return given_to(self._launch, node) is not None

    def read(self, parameter: str, argument: ast.expr) -> Misaddressed | None:
        """What is wrong with how the elements of an argument are found."""
        accesses = self._accesses.get(parameter)
        if not accesses:
            return None
        return self._gradient(accesses, argument) or self._other(accesses, argument)

    def _gradient(self, accesses: _Accesses, argument: ast.expr) -> Misaddressed | None:
        """A gradient that is addressed by anything but strides of its own."""
        found = gradient(self._launch, argument)
        if found is None:
            return None
        for access, terms in accesses:
            named = frozenset().union(*terms)
            own = {name for name in named if self._owners(name) & found.given.names}
            if any(not term & own for term in terms) and not any(map(self._is_untold, named)):
                place = found.given.made or argument
                return Misaddressed(place, access, self._owner(named - own), found, partly=bool(own))
        return None

    def _owner(self, names: frozenset[str]) -> str | None:
        """The tensor whose strides these parameters are."""
        owners = sorted(set().union(*map(self._owners, names)))
        return owners[0] if len(owners) == 1 else None

    def _other(self, accesses: _Accesses, argument: ast.expr) -> Misaddressed | None:
        """A tensor that is addressed by the strides of one that the wrapper was given."""
        if not isinstance(argument, ast.Name):
            return None
        made, mine = allocation(self._launch, argument), given_to(self._launch, argument)
        if made is None and mine is None:
            return None
        mine = mine or Given(argument.id, frozenset((argument.id,)))
        for access, terms in accesses:
            named = frozenset().union(*terms)
            owner = self._owner(named)
            if owner is None or any(map(self._is_untold, named)):
                continue
            if self._are_apart(owner, mine, made is not None):
                return Misaddressed(argument, access, owner, made=made)
        return None

    def _are_apart(self, owner: str, tensor: Given, is_new: bool) -> bool:
        """Whether callers choose how the owner lies in memory, and not so that the other tensor lies alike."""
        launch, module = self._launch, self._launch.module
        found = given_to(launch, ast.Name(id=owner, ctx=ast.Load()))
        if found is None or launch.wrapper is None or found.names & tensor.names:
            return False
        if speaks_of_layout(module, launch.wrapper, tensor.names):
            return False
        is_free = may_lie_anyhow(module, launch.wrapper, found) and (
            is_new or may_lie_anyhow(module, launch.wrapper, tensor)
        )
        return is_free and not is_laid_out_elsewhere(self._flow.launches, launch, found)


def _terms(access: Access) -> list[frozenset[str]] | None:
    """For each term of the address that moves with an index, the parameters in it; None where not all are known."""
    block = access.pointer.block
    base = access.pointer.affine if block is None else block.base
    if base is None or (block is not None and not block.strides):
        return None
    found = [names for moves, names in _products(base) if moves]
    for stride in () if block is None else block.strides:
        if stride is None:
            return None
        found.extend(names for _, names in _products(stride))
    return found


def _products(value: Affine) -> Iterator[tuple[bool, frozenset[str]]]:
    for product in value.terms:
        names = (atom.name for atom in product if atom.kind in GIVEN)
        yield any(atom.kind in _MOVING for atom in product), frozenset(names)
