"""What a subject's reference gives for the inputs of a call: in their own types, in float64, and on inputs a bit off.

Imports torch: for processes in which user code runs.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from tritonaudit.execute.blame import described
from tritonaudit.subject.inputs import Arguments, call, tensors_in
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites.arithmetic import Arithmetic
from tritonaudit.suites.calling import copied, results_of
from tritonaudit.suites.tolerance import DRAWS, Yardstick

_NARROWER = frozenset((torch.float32, torch.float16, torch.bfloat16))
_ROUNDING = 2.0**-24
"""Of float32: by how much inputs are off, relatively, to see how much a result hangs on the last bit of them."""
_OF_8_BITS = frozenset(
    getattr(torch, name)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")
    if hasattr(torch, name)
)
_ROUNDING_OF_8_BITS = 2.0**-14
"""Hopper's tensor cores keep about 14 bits of a sum of their products (DeepSeek-V3, arXiv 2412.19437, 3.5.2)."""


@dataclass(frozen=True)
class References:
    """What the reference gives, result by result: `precise` in float64, `same` in the subject's own types.

    `perturbed` holds the precise results on inputs that are off by a rounding of float32, once for each draw. What the
    reference cannot do is empty, and `reason` says why.
    """

    precise: tuple[torch.Tensor, ...] = ()
    same: tuple[torch.Tensor, ...] = ()
    perturbed: tuple[tuple[torch.Tensor, ...], ...] = ()
    reason: str = ""
    _yardsticks: dict[int, Yardstick] = field(default_factory=dict, init=False, repr=False, compare=False)

    def yardstick(self, number: int) -> Yardstick:
        """What results in the place of that number are judged by."""
        if number not in self._yardsticks:
            self._yardsticks[number] = Yardstick(*self.of(number))
        return self._yardsticks[number]

    def of(self, number: int) -> tuple[torch.Tensor, torch.Tensor, list[torch.Tensor]]:
        """Of the result of that number the precise one, that in the subject's own types, and the perturbed ones."""
        same = self.same[number]
        precise = self.precise[number] if number < len(self.precise) else same.double()
        return precise, same, [draw[number] for draw in self.perturbed if number < len(draw)]


def references(subject: Subject, given: Arguments, case: Case) -> References:
    """What the subject's reference, which it has, gives for the arguments of a case."""
    seed = case.seed
    try:
        same = _results(subject, copied(given), seed)
    except Exception as error:
        return References(reason=f"the reference {described(error)}")
    why = ""
    for narrower in (_NARROWER | _OF_8_BITS, _NARROWER):  # some references take only floats of 8 bits, or their bytes
        try:
            with InDouble():
                precise = _results(subject, in_double(given, narrower), seed)
                noises = _noises(given, narrower, has_equals=case.fill != "normal")
                perturbed = tuple(
                    _results(subject, off_by_a_rounding(given, noise, narrower), seed) for noise in noises
                )
                if _is_constant(case.fill):
                    perturbed += tuple(_rounded_within(subject, in_double(given, narrower), seed, d) for d in range(2))
        except Exception as error:
            why = f"the reference in float64 {described(error)}"
        else:
            return References(precise, same, perturbed)
    return References(tuple(_wide(tensor) for tensor in same), same, (), why)


def arithmetic_of(subject: Subject, given: Arguments, case: Case) -> tuple[float, float]:
    """The floating-point operations that the reference takes, forward and backward; zeros where it fails."""
    counting = Arithmetic()
    try:
        with counting:
            _results(subject, copied(given), case.seed)
    except Exception:
        return 0.0, 0.0
    return counting.forward, counting.backward


def reference_seconds(subject: Subject, given: Arguments, seed: int) -> float | None:
    """How long the reference takes on arguments on a GPU, warm; None where there is none, or it fails."""
    if subject.reference is None:
        return None
    try:
        for _ in range(2):
            began = time.monotonic()
            _results(subject, copied(given), seed)
            torch.cuda.synchronize()
    except Exception:
        return None
    return time.monotonic() - began


def _noises(given: Arguments, narrower: Set[torch.dtype], *, has_equals: bool) -> Iterator[Noise]:
    for draw in range(DRAWS):
        yield Noise(draw, _SHARED[draw % len(_SHARED)] if has_equals else Shared.NOTHING)
    number = sum(tensor.dtype in narrower for tensor in tensors_in(given))
    if has_equals and number > 1:
        yield from (Noise(place, only=place) for place in range(min(number, _MOST_ALONE)))


def _is_constant(fill: str) -> bool:
    """Whether all numbers of a tensor are the same: what is to be 0 then is what the roundings make of it."""
    if fill in ("zeros", "ones", "constant"):
        return True
    try:
        float(fill)
    except ValueError:
        return False
    return True


def _rounded_within(subject: Subject, arguments: Arguments, seed: int, draw: int) -> tuple[torch.Tensor, ...]:
    with Roundings(draw):
        return _results(subject, arguments, seed)


def in_double(arguments: Arguments, narrower: Set[torch.dtype] = _NARROWER) -> Arguments:
    """Copies of the arguments, with floating-point numbers of these types, those of 16 and 32 bits, in float64."""
    return _converted(arguments, lambda tensor: tensor.double(), narrower)


class Shared(Enum):
    """Which numbers of a tensor are off by the same: where they are equal, so are the errors of computing with them."""

    NOTHING = 0
    ROWS = 1
    COLUMNS = 2


_MOST_ALONE = 4
"""Tensors of which each is off alone."""
_SHARED = (Shared.NOTHING, Shared.NOTHING, Shared.ROWS, Shared.COLUMNS)


@dataclass(frozen=True)
class Noise:
    """By how much each number is off: a draw of random numbers, and which of them are the same.

    Draws come in pairs, the second the other way round: a tie that rounds up in one of them rounds down in the other.
    It may be of `only` one of the tensors: a variance that is zero stays so where what it divides is off.
    """

    draw: int
    shared: Shared = Shared.NOTHING
    only: int | None = None


def off_by_a_rounding(arguments: Arguments, noise: Noise, narrower: Set[torch.dtype] = _NARROWER) -> Arguments:
    """The same, each number off by about one rounding of float32; zeros and what is not finite stay."""
    torch.manual_seed(noise.draw // 2)
    direction = -1 if noise.draw % 2 else 1
    places = itertools.count()

    def off(tensor: torch.Tensor) -> torch.Tensor:
        if noise.only not in (None, next(places)):
            return tensor.double()
        shape = list(tensor.shape)
        if noise.shared is Shared.ROWS and shape:
            shape[:-1] = [1] * (len(shape) - 1)
        elif noise.shared is Shared.COLUMNS and shape:
            shape[-1] = 1
        random = tensor.new_empty(shape, dtype=torch.float64).normal_()  # drawn where the tensor is
        unit = _ROUNDING_OF_8_BITS if tensor.dtype in _OF_8_BITS else _ROUNDING
        return tensor.double() * random.mul_(direction * unit).add_(1)

    return _converted(arguments, off, narrower)


class InDouble(TorchFunctionMode):  # type: ignore[misc]
    """Inside it, what would be computed in floating point of 16 or 32 bits is computed in float64.

    Parameters of a model and casts of the reference's own are such, too; what is written to keeps its type.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if name in ("float", "half", "bfloat16"):
            return args[0].double()
        if name in _ACCESSES:
            return func(*args, **kwargs)
        args, kwargs = tree_map(_double_type, (args, kwargs))
        if name.endswith("_") or name in ("__setitem__", "__get__", "__set__") or "out" in kwargs:
            return func(*args, **kwargs)
        return func(*tree_map(_double, args), **tree_map(_double, kwargs))


class Roundings(TorchDispatchMode):  # type: ignore[misc]
    """Inside it, the result of each operation that rounds is off by about one rounding of float32, at random.

    A mean of equal numbers may be off by a rounding from each of them, which no error of the numbers shows.
    """

    def __init__(self, draw: int) -> None:
        super().__init__()
        self._draw = draw
        self._random: dict[Any, torch.Generator] = {}

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        returned = func(*args, **(kwargs or {}))
        schema = func._schema
        is_alias = any(one.alias_info is not None for one in schema.returns)
        if is_alias or schema.name.rpartition("::")[2] in _EXACT:
            return returned
        return tree_map(self._off, returned)

    def _off(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor) or value.dtype != torch.float64:
            return value
        device = value.device
        if device not in self._random:
            self._random[device] = torch.Generator(device).manual_seed(self._draw)
        random = torch.randn(value.shape, dtype=torch.float64, device=device, generator=self._random[device])
        return value * random.mul_(_ROUNDING).add_(1)


_EXACT = frozenset({
    "_to_copy", "_unsafe_view", "abs", "amax", "amin", "arange", "as_strided_copy", "bernoulli", "cat", "ceil",
    "clamp", "clamp_max", "clamp_min", "clone", "constant_pad_nd", "copy", "cummax", "cummin", "diagonal_copy",
    "embedding", "empty", "empty_like", "empty_strided", "expand_copy", "eye", "fill", "flip", "floor", "full",
    "full_like", "gather", "index", "index_put", "index_select", "linspace", "masked_fill", "masked_select", "max",
    "maximum", "min", "minimum", "native_dropout", "neg", "new_empty", "new_empty_strided", "new_full", "new_ones",
    "new_zeros", "ones", "ones_like", "rand", "rand_like", "randn", "randn_like", "relu", "repeat", "roll", "round",
    "scalar_tensor", "scatter", "select_scatter", "sgn", "sign", "slice_scatter", "sort", "stack", "threshold",
    "topk", "tril", "triu", "trunc", "unfold_copy", "where", "zeros", "zeros_like",
})  # fmt: skip
"""What moves or chooses numbers, or makes them, and rounds none."""

_ACCESSES = frozenset(("requires_grad_", "backward", "data_ptr", "untyped_storage", "storage_offset", "detach"))


def _double_type(value: Any) -> Any:
    return torch.float64 if isinstance(value, torch.dtype) and value in _NARROWER else value


def _double(value: Any) -> Any:
    if isinstance(value, torch.Tensor) and value.dtype in _NARROWER:
        return value.double()
    return value


def _converted(
    arguments: Arguments, convert: Callable[[torch.Tensor], torch.Tensor], narrower: Set[torch.dtype]
) -> Arguments:
    def one(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        if value.dtype not in narrower:
            return copied(value)
        wide = convert(value.detach())
        return wide.requires_grad_() if value.requires_grad else wide

    converted: Arguments = tree_map(one, arguments)
    return converted


def _results(subject: Subject, arguments: Arguments, seed: int) -> tuple[torch.Tensor, ...]:
    assert subject.reference is not None
    given = copied(arguments) if subject.mutates else arguments
    torch.manual_seed(seed)
    returned = call(subject.reference, *arguments, gradients=subject.gradients)
    return tuple(tensor for _, tensor in results_of(subject, arguments, returned, given))


def _wide(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.double() if tensor.is_floating_point() else tensor
