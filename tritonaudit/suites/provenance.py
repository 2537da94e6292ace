"""Where the numbers in a tensor come from: kernels, operators of torch, or what was given. Imports torch: for workers.

Each byte of a storage has an origin. Launches write `KERNEL`. What copies elements copies their origins, whatever the
layout. An operator that computes gives `KERNEL` if anything that it reads comes from a kernel, so that casts and
reductions of a kernel's result are its own; else `TORCH`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_map

from tritonaudit.simulator.operator_mode import OperatorMode
from tritonaudit.simulator.torch_memory import per_byte, storage_address, written_by
from tritonaudit.suites.arithmetic import Spent, spent_on
from tritonaudit.suites.calling import Observed, Ran
from tritonaudit.suites.operators import PLACES, Operator, Work, operator_of
from tritonaudit.suites.reaching import Step, reaching
from tritonaudit.suites.snapshots import bytes_of, digest


class Origin(IntEnum):
    """Who made an element: nobody that was seen, nobody that was seen since its memory was allocated, somebody who was
    not seen and wrote over what was known, the caller or a constant, an operator of torch, a kernel."""

    UNSEEN = 0
    EMPTY = 1
    ALTERED = 2
    GIVEN = 3
    TORCH = 4
    KERNEL = 5


POISON = 0xFF, 0xA5
"""Every byte of what was allocated on a GPU and not written: of floating-point numbers, NaN then, and of integers."""
_TO_HOST = frozenset(("_local_scalar_dense", "equal"))
"""Operators that tell the host what is in a tensor."""
_MOST_KEPT = 1 << 28
"""Bytes of results of torch's operators that are kept, to compare what the wrapper returns with."""


@dataclass(frozen=True)
class Unaccounted:
    """Memory that nobody was seen to write: its address, a digest of its bytes, and how many these are."""

    address: int
    digest: int
    size: int


@dataclass(frozen=True, eq=False)
class Computed:
    """What an operator of torch made, of which nothing comes from a kernel; it may only have `moved` the elements."""

    operator: str
    result: torch.Tensor
    moved: bool = False


class Provenance(OperatorMode):
    """Follows, while it is active, what torch does in this process between the launches of `observed`."""

    def __init__(self, observed: Observed, given: Sequence[torch.Tensor], *, is_watched: bool = False) -> None:
        super().__init__()
        self._process = os.getpid()
        self._is_watched = is_watched
        self.computed: list[Computed] = []
        self._steps: list[Step] = []
        self.unaccounted: list[Unaccounted] = []
        """What launches or operators read and nobody was seen to make, in the order in which it was met."""
        self.altered = 0
        """How often what a launch had left was another thing for the next one, without anybody's being seen."""
        self.undefined = 0
        """How often the host was told what lies in memory that nobody has written."""
        self._allocated: set[int] = set()
        self._undefined: set[int] = set()
        """Storages with what is computed from nothing else than such memory, and from constants."""
        self._left: dict[int, torch.Tensor] = {}
        self._digests: dict[int, int] = {}
        self._given_out: dict[int, int] = {}
        """Digests of the host's memory as it was allocated, where nobody was seen to write since."""
        self._observed = observed
        self._launches = 0
        self._kept = [0, 0]
        """Bytes of results that are kept: computed, and moved."""
        self._origins: dict[int, torch.Tensor] = {}
        self._operators: dict[int, frozenset[str]] = {}
        self._by_launches: set[int] = set()
        for tensor in given:
            self._mark(tensor, Origin.GIVEN)

    def on_operator(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        if os.getpid() != self._process:  # forked by the wrapper: what is on a GPU cannot be looked at there
            return function(*args, **kwargs)
        result, within = self._called(function, args, kwargs)
        spent = spent_on(function, args, kwargs, result)
        if within:  # a wrapper of kernels, such as one of torch.library
            spent = replace(spent, at_most=0.0, unknown=frozenset())
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            self._steps.append(_step(spent, function, args, kwargs, result))
            self._follow(operator_of(function), function, args, kwargs, result, within)
        return result

    def on_function_of_functions(self, function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        """What it gives is the kernels' where any of what it is given is, or it launches some."""
        if os.getpid() != self._process:
            return function(*args, **kwargs)
        result, within = self._called(function, args, kwargs)
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            read, made = ([one for one in tree_leaves(given) if _is_seen(one)] for given in ((args, kwargs), result))
            unknown = Spent(at_most=math.inf, unknown=frozenset((str(function),)))
            self._steps.append(
                Step(unknown, frozenset(map(storage_address, made)), frozenset(map(storage_address, read)))
            )
            self._look_at_read(read, made)
            if made and within:
                self._note(made, Origin.KERNEL, frozenset())
            elif made:
                self._compute(Operator(str(function), False, ()), made, read)
        return result

    def _called(self, function: Any, args: Any, kwargs: Mapping[str, Any]) -> tuple[Any, Sequence[Ran]]:
        """What a call gives, and the launches within it."""
        self._see_launches()
        before = self._launches
        result = function(*args, **kwargs)
        self._see_launches()
        return result, self._observed.ran[before : self._launches]

    def origins(self, tensor: torch.Tensor) -> torch.Tensor:
        """The origin of each element, as a number, of the tensor's shape; none is known where there is no memory."""
        self._see_launches()
        if not _is_seen(tensor):
            return torch.zeros(tensor.shape, dtype=torch.uint8)
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            return self._elements(tensor).clone()

    def operators(self, tensor: torch.Tensor) -> frozenset[str]:
        """The operators of torch that made what is in its storage, by their names."""
        return self._operators.get(storage_address(tensor), frozenset())

    def arithmetic(self, results: Sequence[torch.Tensor]) -> Spent:
        """What operators of torch computed that can have got into these results."""
        self._see_launches()
        return reaching(self._steps, {storage_address(one) for one in results if _is_seen(one)})

    def is_known(self, tensor: torch.Tensor) -> bool:
        """Whether anything was seen of its storage."""
        self._see_launches()
        return self._is_known(tensor)

    def _is_known(self, tensor: torch.Tensor) -> bool:
        return storage_address(tensor) in self._origins or storage_address(tensor) in self._by_launches

    def written(self) -> Iterator[int]:
        """The addresses of storages that launches, or computing operators of torch, have written to."""
        self._see_launches()
        yield from self._by_launches
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            yield from [address for address, one in self._origins.items() if bool((one >= int(Origin.TORCH)).any())]

    # -- launches --------------------------------------------------------------------------------------------------

    def _see_launches(self) -> None:
        """Take note of the launches since the last time."""
        ran = self._observed.ran
        while self._launches < len(ran):
            one = ran[self._launches]
            self._launches += 1
            self._steps.append(Step(Spent(), frozenset(one.written)))
            with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
                self._look_at_given(one)
                self._credit(one)

    def _credit(self, one: Ran) -> None:
        """A launch made what it has written."""
        self._left.update(one.left)
        for address in one.left:
            self._digests.pop(address, None)
        for address in one.written:
            self._given_out.pop(address, None)
            self._undefined.discard(address)
            elements = one.elements.get(address)
            known = self._origins.get(address)
            if elements is None:
                self._by_launches.add(address)
                if known is not None:
                    known.fill_(int(Origin.KERNEL))
            elif known is None or len(known) != len(elements):
                self._origins[address] = elements.to(torch.uint8) * int(Origin.KERNEL)
            else:
                known.masked_fill_(elements, int(Origin.KERNEL))

    def _look_at_given(self, one: Ran) -> None:
        """Whether somebody is known to have made what a launch was given."""
        for address, held in one.held.items():
            if address in self._left:
                self.altered += digest(self._left[address]) != held
            elif address in self._digests:
                self.altered += self._digests[address] != held
            elif address not in self._origins and address not in self._by_launches and address not in one.written:
                self.unaccounted.append(Unaccounted(address, held, one.sizes.get(address, 0)))

    def _look_at_read(self, read: Sequence[torch.Tensor], made: Sequence[torch.Tensor]) -> None:
        """The same of what an operator reads, also where it is no more what was last seen to be put there."""
        if not self._is_watched:
            return
        made_there = {storage_address(one) for one in made}
        for one in read:
            address = storage_address(one)
            if address not in made_there:
                self._compare(address, one)

    def _compare(self, address: int, read: torch.Tensor) -> None:
        """A storage with what is known of it."""
        is_known, left = self._is_known(read), self._left.get(address)
        known = self._digests.get(address, self._given_out.get(address))
        if is_known and left is None and known is None:
            return
        now = bytes_of(read.untyped_storage())
        if left is not None:
            if now.shape == left.shape:
                self._alter(read, now != left)
            return
        found = digest(now)
        if is_known and found == known:
            return
        self.unaccounted.append(Unaccounted(address, found, len(now)))
        origins = self._of_storage(read)
        if is_known:
            origins.fill_(int(Origin.ALTERED))

    def _alter(self, tensor: torch.Tensor, different: torch.Tensor) -> None:
        """Who is not seen made the elements of a storage that have these bytes."""
        size = tensor.element_size()
        whole = len(different) // size * size
        elements = self._of_storage(tensor)[:whole].reshape(-1, size)
        elements.masked_fill_(different[:whole].reshape(-1, size).any(-1, keepdim=True), int(Origin.ALTERED))

    def overwritten(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """Which elements are no more what was last seen to be written there; all, where no launch wrote them."""
        address = storage_address(tensor)
        left, known = self._left.get(address), self._digests.get(address)
        if not tensor.numel() or (left is None and known is None):
            return None
        with torch._C._DisableTorchDispatch(), torch._C.DisableTorchFunction():
            now = bytes_of(tensor.untyped_storage())
            if left is not None:
                return None if now.shape != left.shape else per_byte(tensor, now != left).any(-1)
            return torch.full(tensor.shape, digest(now) != known)

    # -- operators -------------------------------------------------------------------------------------------------

    def _follow(
        self,
        operator: Operator,
        function: Any,
        args: Any,
        kwargs: Mapping[str, Any],
        result: Any,
        within: Sequence[Ran],
    ) -> None:
        """Note what an operator has made, `within` which these launches ran."""
        written = [one for one in written_by(function, args, kwargs) if _is_seen(one)]
        if operator.name == "set" or (operator.is_view and not written):  # no storage is written
            return
        made = written or [one for one in tree_leaves(result) if _is_seen(one)]
        read = [one for one in tree_leaves((args, dict(kwargs))) if _is_seen(one)]
        if operator.name in _TO_HOST:
            self.undefined += any(map(self._is_undefined, read))
        if not made:
            return
        self._look_at_read(read, made)
        match operator.work_on(args, kwargs):
            case Work.ALLOCATES:
                self._note(made, Origin.EMPTY, frozenset())
                for one in made:
                    self._give_out(storage_address(one), one.untyped_storage())
            case Work.MAKES:
                self._note(made, Origin.GIVEN, frozenset())
            case Work.MOVES:
                with self._passing_on(made, read, all):
                    self._move(operator, function, args, kwargs, made, read)
            case _ if within:
                self._note(made, Origin.TORCH, frozenset((operator.name,)))
                for one in within:
                    self._credit(one)
            case _:
                with self._passing_on(made, read, any):
                    self._compute(operator, made, read)

    def _give_out(self, address: int, storage: torch.UntypedStorage) -> None:
        """Memory was allocated: what a launch that is not seen to write there may fill is not the host's."""
        self._digests.pop(address, None)
        self._allocated.add(address)
        if self._is_watched and storage.device.type == "cpu":
            self._given_out[address] = digest(bytes_of(storage))

    def _is_undefined(self, tensor: torch.Tensor) -> bool:
        """Whether nobody has written anything of it, seen or unseen: of the host's memory its bytes tell."""
        address = storage_address(tensor)
        if address in self._undefined:
            return True
        if address not in self._allocated or not tensor.numel():
            return False
        if not bool((self._elements(tensor) == Origin.EMPTY).all()):
            return False
        return self._is_as_given_out(address, tensor.untyped_storage())

    def _is_as_given_out(self, address: int, storage: torch.UntypedStorage) -> bool:
        """Whether memory holds what it did when it was allocated: zeros on the stand-in for a GPU, poison on a GPU."""
        now = bytes_of(storage)
        if storage.device.type != "cpu":
            return bool((now == now[0]).all()) and int(now[0]) in POISON
        given_out = self._given_out.get(address)
        return given_out is not None and (given_out == digest(now) or not bool(now.any()))

    @contextmanager
    def _passing_on(
        self, made: Sequence[torch.Tensor], read: Sequence[torch.Tensor], where: Callable[[Iterable[bool]], bool]
    ) -> Iterator[None]:
        """What is made meanwhile is as undefined as what is read, where any or all of that is."""
        addresses = {storage_address(one) for one in made}
        others = [self._is_undefined(one) for one in read if storage_address(one) not in addresses]
        yield
        if others and where(others):
            self._undefined |= addresses

    def _compute(self, operator: Operator, made: Sequence[torch.Tensor], read: Sequence[torch.Tensor]) -> None:
        if any(bool((self._elements(one) == Origin.KERNEL).any()) for one in read):
            self._note(made, Origin.KERNEL, frozenset())
            return
        self._note(made, Origin.TORCH, frozenset((operator.name,)))
        self._keep(operator, made)

    def _keep(self, operator: Operator, made: Sequence[torch.Tensor], *, moved: bool = False) -> None:
        for one in made:
            size = one.numel() * one.element_size()
            if self._kept[moved] + size <= _MOST_KEPT:
                self._kept[moved] += size
                self.computed.append(Computed(operator.name, one.detach().clone(), moved))

    def _move(
        self,
        operator: Operator,
        function: Any,
        args: Any,
        kwargs: Mapping[str, Any],
        made: Sequence[torch.Tensor],
        read: Sequence[torch.Tensor],
    ) -> None:
        """Let the origins go the way of the elements, by the same operator; where it cannot, all have the highest."""
        operators = frozenset().union(*(self.operators(one) for one in read))
        highest = max((int(self._elements(one).max()) for one in read), default=int(Origin.GIVEN))
        if not any(bool((self._elements(one) == Origin.KERNEL).any()) for one in read):
            self._keep(operator, made, moved=True)
        try:
            moved = self._moved(operator, function, args, kwargs)
        except Exception:  # some operators do not take numbers of one byte
            moved = None
        if not isinstance(moved, torch.Tensor) or len(made) != 1:
            self._note(made, Origin(highest), operators)
            return
        (target,) = made
        origins = moved.expand(target.shape) if moved.shape != target.shape else moved
        self._put(target, origins)
        self._operators[storage_address(target)] = operators

    def _moved(self, operator: Operator, function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        named = operator.named(args, kwargs)
        if operator.name in ("copy", "fill"):
            return self._origins_of(named.get("src", named.get("value")))
        if operator.name in ("clone", "_to_copy", "lift_fresh_copy"):
            return self._elements(named["self"])
        passed = {name: value if name in PLACES else tree_map(self._origins_of, value) for name, value in named.items()}
        for name in ("self", "other", "value"):
            if isinstance(passed.get(name), (int, float, bool, complex)):
                passed[name] = int(Origin.GIVEN)
        passed.pop("out", None)
        for name in ("dtype", "layout", "device", "pin_memory"):
            passed.pop(name, None)
        return operator.functional(function)(**passed)

    def _origins_of(self, value: Any) -> Any:
        return self._elements(value).clone() if isinstance(value, torch.Tensor) else value

    # -- origins ---------------------------------------------------------------------------------------------------

    def _note(self, tensors: Sequence[torch.Tensor], origin: Origin, operators: frozenset[str]) -> None:
        for tensor in tensors:
            self._mark(tensor, origin)
            self._operators[storage_address(tensor)] = operators

    def _mark(self, tensor: torch.Tensor, origin: Origin) -> None:
        self._put(tensor, torch.full((), int(origin), dtype=torch.uint8).expand(tensor.shape))

    def _put(self, tensor: torch.Tensor, origins: torch.Tensor) -> None:
        if not tensor.numel():
            return
        for axis, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
            if size > 1 and stride == 0:  # all of them are one element
                tensor, origins = tensor.narrow(axis, 0, 1), origins.narrow(axis, 0, 1)
        kept = self._of_storage(tensor)
        address = storage_address(tensor)
        self._left.pop(address, None)  # it has been written since, by somebody who was seen
        self._given_out.pop(address, None)
        self._undefined.discard(address)
        if self._is_watched and tensor.device.type != "meta":
            if tensor.device.type == "cpu" and torch.cuda.is_initialized():
                torch.cuda.synchronize()  # what comes from the GPU may still be on its way
            self._digests[address] = digest(bytes_of(tensor.untyped_storage()))
        try:
            per_byte(tensor, kept).copy_(origins.unsqueeze(-1))
        except RuntimeError:  # elements share memory in some other way
            kept.fill_(int(origins.max()))

    def _elements(self, tensor: torch.Tensor) -> torch.Tensor:
        if not tensor.numel():
            return torch.zeros(tensor.shape, dtype=torch.uint8)
        return per_byte(tensor, self._of_storage(tensor))[..., 0]

    def _of_storage(self, tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        found = self._origins.get(storage.data_ptr())
        if found is None or len(found) != storage.nbytes():
            origin = Origin.KERNEL if storage.data_ptr() in self._by_launches else Origin.UNSEEN
            found = torch.full((storage.nbytes(),), int(origin), dtype=torch.uint8, device=storage.device)
            self._origins[storage.data_ptr()] = found
        return found


def _step(spent: Spent, function: Any, args: Any, kwargs: Mapping[str, Any], result: Any) -> Step:
    read = [one for one in tree_leaves((args, dict(kwargs))) if _is_seen(one)]
    made = [one for one in (*written_by(function, args, kwargs), *tree_leaves(result)) if _is_seen(one)]
    return Step(spent, frozenset(map(storage_address, made)), frozenset(map(storage_address, read)))


def _is_seen(value: Any) -> bool:
    """Whether it is a tensor with memory of its own."""
    if not isinstance(value, torch.Tensor) or value.layout != torch.strided:
        return False
    return bool(value.untyped_storage().device.type != "meta")
