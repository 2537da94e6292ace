"""Tensors whose elements a kernel looks for without the strides that the tensor has."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tritonaudit.domains.affine import GIVEN, Affine, AtomKind
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less
from tritonaudit.host.facts import KIND
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.run import CONTIGUOUS
from tritonaudit.host.values import Dims, Function, Key, Symbol, Tensor
from tritonaudit.queries.launched import argument_node, set_before
from tritonaudit.queries.updates import parameter_of
from tritonaudit.source.outline import Module, dotted_name

_MOVING = (AtomKind.PID, AtomKind.LANE, AtomKind.LOOP, AtomKind.OPAQUE)
_VIEWS = frozenset(
    ("given", "view", "unsqueeze", "squeeze", "transpose", "permute", "narrow", "split", "chunk", "a part")
)
_NEW = frozenset(("empty", "zeros", "ones", "full"))
_LIBRARIES = ("torch.", "triton.", "functools.", "typing.")
_Accesses = list[tuple[Access, list[frozenset[str]]]]  # each with the terms of its address


@dataclass(frozen=True, eq=False)
class Misaddressed:
    """The launch passes a tensor as `argument`, and `access` finds its elements by other strides than its own.

    `owner` is the tensor whose strides they are; without one, the elements are taken to lie side by side, and if
    `partly`, then along one dimension only. `gradient` is what autograd calls the tensor that it hands in; a tensor
    that is `new` is made at `made`. `unused` is the parameter that has a stride of its own, and that the address lacks.
    """

    argument: ast.expr
    access: Access
    owner: str | None
    gradient: str | None = None
    partly: bool = False
    new: bool = False
    made: ast.expr | None = None
    unused: str | None = None


def misaddressed(flow: KernelFlow) -> Iterator[Misaddressed]:
    """The tensors of the launches that may lie in memory differently than the kernel assumes, each once per launch."""
    accesses = _by_parameter(flow)
    sites = [site for site in flow.launches.sites if site.is_whole and not site.doubt] if accesses else []
    readers = [_Reader(flow, site) for site in sites if all(map(_is_followed, site.made.calls))]
    dense: dict[tuple[int, str], list[_Reader]] = {}
    for reader in readers:
        for passed in reader.made_dense:
            dense.setdefault(passed, []).append(reader)
    seen: set[tuple[int, str]] = set()
    for reader in readers:
        for parameter, found in accesses.items():
            passed = reader.passed(parameter)
            is_open = passed not in seen and not any(map(reader.may_be, dense.get(passed, ())))
            reported = reader.read(parameter, found) if is_open else None
            if reported is not None:
                seen.add(passed)
                yield reported


class _Reader:
    """Reads the addresses of one kernel as one launch makes them."""

    def __init__(self, flow: KernelFlow, site: LaunchSite) -> None:
        self._flow = flow
        self._site = site
        self._tensors = {parameter: _tensor(value) for parameter, value in site.arguments.items()}
        self._asked = {key for condition in site.conditions for key in _keys_in(site, condition.test.polynomial)}
        self._doubted = frozenset().union(*(one.test.roots for one in site.conditions if one.test.reason))
        self._no_tensors = {one.test.key[0] for one in site.conditions if one.test.relation == KIND and one.holds}
        self._dense = {one.test.key for one in site.conditions if one.test.relation == CONTIGUOUS and one.holds}

    def may_be(self, other: _Reader) -> bool:
        """Whether only what is not known tells its way to the launch from another one."""
        own = {(one.test, one.holds) for one in self._site.conditions if not one.test.reason}
        return own <= {(one.test, one.holds) for one in other._site.conditions}

    @property
    def made_dense(self) -> Iterator[tuple[int, str]]:
        """What is passed once `contiguous()` was called."""
        tensors = ((parameter, tensor) for parameter, tensor in self._tensors.items() if tensor is not None)
        return (self.passed(parameter) for parameter, tensor in tensors if tensor.made == "contiguous")

    def passed(self, parameter: str) -> tuple[int, str]:
        """A parameter of the call that launches."""
        return id(self._site.call), parameter

    def read(self, parameter: str, accesses: _Accesses) -> Misaddressed | None:
        """What is wrong with how the elements of an argument are found."""
        tensor = self._tensors.get(parameter)
        node = argument_node(self._site, parameter)
        if tensor is None or node is None or self._is_settled(tensor):
            return None
        if tensor.made in _VIEWS and (name := self._gradient_of(tensor)) is not None:
            return self._as_gradient(accesses, node, tensor, name)
        return self._as_other(accesses, node, tensor)

    def _as_gradient(self, accesses: _Accesses, node: ast.expr, tensor: Tensor, name: str) -> Misaddressed | None:
        """A gradient that is addressed by anything but strides of its own."""
        for access, terms in accesses:
            named = frozenset().union(*terms)
            own = {one for one in named if self._is_own(tensor, one)}
            if any(not term & own for term in terms) and not any(map(self._is_unknown, named)):
                place = set_before(self._site, node) if tensor.made != "given" else None
                return Misaddressed(place or node, access, self._named(named - own), name, partly=bool(own))
        return None

    def _as_other(self, accesses: _Accesses, node: ast.expr, tensor: Tensor) -> Misaddressed | None:
        """A tensor that is addressed by the strides of one that callers give, and may lay out as they like."""
        is_new = tensor.made.removeprefix("new_").removesuffix("_like") in _NEW
        if not is_new and (tensor.symbol.key[:1] != ("input",) or len(tensor.symbol.key) != 2):
            return None
        for access, terms in accesses:
            named = frozenset().union(*terms)
            own = {one for one in named if self._is_own(tensor, one)}
            owner = self._owner(named - own)
            unused = next((one for one in self._own_strides(tensor) if one not in named), None)
            if owner is None or any(map(self._is_unknown, named)) or (own and unused is None):
                continue
            made = set_before(self._site, node) if is_new else None
            return Misaddressed(node, access, owner, new=is_new, made=made, unused=unused)
        return None

    # -- whose strides -------------------------------------------------------------------------------------------

    def _is_settled(self, tensor: Tensor) -> bool:
        """Whether it is contiguous by what was done or asked, or its strides were asked for, or nobody knows what."""
        if tensor.symbol.key in self._dense | self._asked or tensor.symbol.roots & self._doubted:
            return True
        if tensor.symbol.key in self._no_tensors:
            return True  # which the kernel, that takes it for a pointer, is not launched with
        if tensor.made == "given" and tensor.dtype not in (None, tensor.symbol.part("dtype")):
            return True  # cast, and laid out again
        return tensor.is_contiguous and tensor.made in (*_VIEWS, "contiguous")

    def _is_own(self, tensor: Tensor, parameter: str) -> bool:
        value = self._site.argument(parameter)
        if value is not None and tensor.strides is not None and value.atom is not None and value in tensor.strides:
            return True
        return value is not None and tensor.symbol.key in _keys_in(self._site, value)

    def _own_strides(self, tensor: Tensor) -> Iterator[str]:
        """The parameters that the launch passes the strides of the tensor for."""
        for name in self._site.arguments:
            value = self._site.argument(name)
            key = None if value is None or value.atom is None else self._site.arithmetic.keys.get(value.atom)
            if isinstance(key, tuple) and key[:-2] == tensor.symbol.key and key[-2:-1] == ("stride",):
                yield name

    def _owner(self, parameters: frozenset[str]) -> str | None:
        """The tensor that callers give, whose strides these parameters are, where it is one."""
        values = [self._site.argument(parameter) for parameter in parameters]
        keys = {key for value in values for key in _keys_in(self._site, value)}
        if len(keys) != 1 or keys & (self._dense | self._asked):
            return None
        (key,) = keys
        passed = next((one for one in self._tensors.values() if one is not None and one.symbol.key == key), None)
        if passed is not None and passed.made in _VIEWS and not passed.symbol.roots & self._objects:
            return passed.symbol.name if passed.symbol.reason in ("", "a view") else None  # what a library made is new
        return str(key[1]) if key[:1] == ("input",) and len(key) == 2 else None

    @cached_property
    def _objects(self) -> frozenset[str]:
        """What the entry is a method of, or autograd's context: what it keeps is not as callers like."""
        entry = self._site.entry
        is_bound = entry.is_method or _is_backward(entry.scope.module, entry.node)
        return frozenset(arg.arg for arg in entry.node.args.args[:1] if is_bound or entry.node.name == "forward")

    def _named(self, parameters: frozenset[str]) -> str | None:
        """What the launch calls the tensor whose strides these parameters are, where it is one."""
        owners = set()
        for parameter in parameters:
            if _keys_in(self._site, self._site.argument(parameter)):
                node = argument_node(self._site, parameter)
                made = None if node is None else set_before(self._site, node) or node
                asked = made.func if isinstance(made, ast.Call) else None
                owners.add(ast.unparse(asked.value) if isinstance(asked, ast.Attribute) else None)
        return owners.pop() if len(owners) == 1 else None

    def _is_unknown(self, parameter: str) -> bool:
        """Whether nobody evaluated it, or a caller gives it, of no tensor, and no mask shows it to be a size.

        It may be anyone's stride.
        """
        value = self._site.argument(parameter)
        if value is None or any(
            atom.kind is AtomKind.OPAQUE and not atom.inner and parameter not in self._bounds
            for atom in value.atoms_inside()
        ):
            return True
        keys = [self._site.arithmetic.keys.get(atom) for atom in value.atoms_inside()]
        is_given = any(isinstance(key, tuple) and key[:1] == ("input",) and "shape" not in key for key in keys)
        return is_given and not _keys_in(self._site, value) and parameter not in self._bounds

    @cached_property
    def _bounds(self) -> frozenset[str]:
        """The parameters that masks compare indices with."""
        masks = (access.mask.mask or () for access in self._flow.accesses if access.mask is not None)
        gaps = (one.gap for conditions in masks for one in conditions if isinstance(one, Less))
        return frozenset(atom.name for gap in gaps for atom in gap.atoms_inside() if atom.kind in GIVEN)

    # -- where it comes from -------------------------------------------------------------------------------------

    def _gradient_of(self, tensor: Tensor) -> str | None:
        """What `backward` calls the tensor that it is, or a view of."""
        entry = self._site.entry
        handed = [arg.arg for arg in entry.node.args.args][1:] if _is_backward(entry.scope.module, entry.node) else []
        return next((name for name in handed if tensor.symbol.roots == {name}), None)


def _tensor(value: object) -> Tensor | None:
    """A tensor, or what is given and may be one."""
    if isinstance(value, Symbol) and not value.reason:
        return Tensor(value, Dims(value), None, None)
    return value if isinstance(value, Tensor) else None


def _keys_in(site: LaunchSite, value: Affine | None) -> set[Key]:
    """The tensors whose strides a number is made of."""
    keys = [site.arithmetic.keys.get(atom) for atom in (() if value is None else value.atoms_inside())]
    return {key[:-2] for key in keys if isinstance(key, tuple) and len(key) > 2 and key[-2] == "stride"}


def _is_followed(function: Function) -> bool:
    """Whether its decorators are of the project, and were run, or of libraries that leave tensors as they are."""
    for decorator in getattr(function.node, "decorator_list", ()):
        name = dotted_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        scope = function.frame.scope
        is_own = name is not None and isinstance(scope.look_up(name), Function)
        is_known = name in ("staticmethod", "classmethod", "property")
        if not is_own and not is_known and not scope.module.origin(name or "").startswith(_LIBRARIES):
            return False
    return True


def _is_backward(module: Module, function: ast.FunctionDef) -> bool:
    """Whether autograd calls it: the `backward` of a `Function`, or what is registered as such."""
    classes = (node for node in module.nodes(module.tree).of(ast.ClassDef) if function in node.body)
    if function.name == "backward" and any(node.bases for node in classes):
        return True
    calls = module.nodes(module.tree).of(ast.Call)
    given = (call.args for call in calls if (dotted_name(call.func) or "").endswith("register_autograd"))
    return any(isinstance(one, ast.Name) and one.id == function.name for args in given for one in args)


def _by_parameter(flow: KernelFlow) -> dict[str, _Accesses]:
    """The accesses by the parameter, where the addresses of all can be read."""
    found: dict[str, _Accesses] = {}
    unread: set[str] = set()
    for access in flow.accesses:
        parameter, terms = parameter_of(access), _terms(access)
        if parameter is not None and terms is not None:
            found.setdefault(parameter, []).append((access, terms))
        elif parameter is not None:
            unread.add(parameter)
    return {parameter: accesses for parameter, accesses in found.items() if parameter not in unread}


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
