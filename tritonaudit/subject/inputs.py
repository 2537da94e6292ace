"""Makes the inputs of a case and calls a wrapper on them. Imports torch: for processes in which user code runs."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._device import _device_constructors

from tritonaudit.absent.stand_in import depending_on_nothing
from tritonaudit.capture.imagined import forget, imagine, is_hollow
from tritonaudit.subject.dimension import size_of
from tritonaudit.subject.filling import Turn, filled, in_runs, laid_out, spread, times_normal, turns
from tritonaudit.subject.given import ANY_INTEGERS, RUNS, Given
from tritonaudit.subject.model import Case, Layout, Offsets, Size, Subject, Tensor
from tritonaudit.subject.size_kind import size_names
from tritonaudit.subject.varying import Resized, cut, each_tensor, has_shapes, varied, within

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def make_inputs(subject: Subject, case: Case) -> Arguments:
    """The arguments, positional and by keyword, that a case gives the subject; the same whenever they are made.

    Where a function makes them, tensors that it puts nowhere else are on the case's device. Raises TypeError if it
    returns what cannot be arguments.
    """
    seed(case)
    forget()
    at_first = 0 if callable(subject.inputs) else len(subject.tensors) - _tensors_among(subject.keywords)
    keyed, made = _Maker(subject, case, at_first), _Maker(subject, case)
    keywords = {name: keyed.value(value, name) for name, value in subject.keywords.items()}
    if callable(subject.inputs):
        positional, own = _given(subject, case)
        arguments: Arguments = positional, {**keywords, **own}
    else:
        arguments = tuple(made.value(value, place) for place, value in enumerate(subject.inputs)), keywords
    if subject.gradients:
        for tensor in tensors_in(arguments):
            if tensor.is_floating_point() and tensor.element_size() > 1 and tensor.is_leaf:
                tensor.requires_grad_()
    return arguments


def seed(case: Case) -> None:
    """Reset the global random number generators, those of Python and NumPy as well as torch's."""
    seed_torch(case.seed)
    random.seed(case.seed)
    if (numpy := sys.modules.get("numpy")) is not None:
        numpy.random.seed(case.seed % (1 << 32))


def seed_torch(number: int) -> None:
    """As `torch.manual_seed`, which asks for the stack for each kind of device that is unused, for the ones in use."""
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():
        torch.cuda.manual_seed_all(number)


def specs_of(subject: Subject) -> Iterator[Tensor | Offsets | torch.Tensor]:
    """What stands for each tensor among the arguments, in their order; nothing where a function makes them."""
    if not callable(subject.inputs):
        yield from _specs_in(subject.inputs)
        yield from _specs_in(subject.keywords)


def make_argument(subject: Subject, case: Case, spec: Tensor | Offsets) -> torch.Tensor:
    """The tensor that one of them stands for in a case; its numbers are others than among all arguments."""
    seed_torch(case.seed)
    made: torch.Tensor = _Maker(subject, case).value(spec, "")
    return made


def _tensors_among(values: Any) -> int:
    return sum(isinstance(spec, Tensor) for spec in _specs_in(values))


def _specs_in(value: Any) -> Iterator[Tensor | Offsets | torch.Tensor]:
    if isinstance(value, (Tensor, Offsets, torch.Tensor)):
        yield value
    elif isinstance(value, Mapping):
        yield from _specs_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _specs_in(member)


def run_subject(subject: Subject, case: Case) -> Any:
    """What the wrapper returns for a case, after its backward pass where the subject asks for gradients."""
    positional, keywords = make_inputs(subject, case)
    return call(subject.function, positional, keywords, gradients=subject.gradients, passed=passed_in(case))


class Passed(NamedTuple):
    """How what a backward pass begins with lies, and by what it is multiplied."""

    layout: Layout = Layout.CONTIGUOUS
    times: float = 1.0


USUAL = Passed()


class Upstream(NamedTuple):
    """A gradient that is passed backward, and a copy of it as it was."""

    tensor: torch.Tensor
    before: torch.Tensor


def passed_in(case: Case) -> Passed:
    """That of a case: as many times larger as all that is given, since losses in half precision are scaled."""
    return Passed(case.gradient, times_normal(case.fill) or 1.0)


def call(
    function: Callable[..., Any],
    positional: Sequence[Any],
    keywords: Mapping[str, Any],
    *,
    gradients: bool,
    passed: Passed = USUAL,
    upstream: list[Upstream] | None = None,
    between: Callable[[], object] | None = None,
) -> Any:
    """What the function returns; `gradients` passes some backward from every floating-point tensor among that.

    They are random eighths between -2 and 2, which every dtype holds, the same in each call, times what `passed` says,
    which a float16 holds up to 16384, and lie as that does; expanded they are ones. They are added to `upstream`. What
    is done `between` comes before that backward pass.

    Raises ValueError if gradients are asked of a function that returns nothing which has any, and DependsOnStandIn if
    the call has reached a stand-in for what is absent.
    """
    with depending_on_nothing():
        outputs = function(*positional, **keywords)
        if gradients:
            differentiable = [t for t in tensors_in(outputs) if t.is_floating_point() and t.requires_grad]
            if not differentiable:
                raise ValueError(_NO_GRADIENT)
            made = [_passed(tensor, passed) for tensor in differentiable]
            if between is not None:
                between()
            if upstream is not None:
                upstream += [Upstream(tensor, tensor.clone()) for tensor in made]
            torch.autograd.backward(differentiable, made)
    return outputs


_NO_GRADIENT = "gradients=True, but nothing that the function returns depends on an input by autograd"


def _passed(output: torch.Tensor, passed: Passed) -> torch.Tensor:
    """What is passed backward from an output."""
    if passed.layout is Layout.EXPANDED:
        return torch.ones((), device=output.device, dtype=output.dtype).expand(output.shape)
    numbers = eighths(output, passed.times)
    if passed.layout is Layout.SPREAD and output.dim():
        return spread(numbers, 2)
    return laid_out(numbers, passed.layout, Turn())


_EIGHTHS = tuple(number / 8 for number in range(-16, 17))


def eighths(like: torch.Tensor, times: float = 1.0) -> torch.Tensor:
    """What is passed backward from such an output, times a number."""
    if like.is_meta:
        return torch.ones_like(like)
    generator = torch.Generator().manual_seed(like.numel())
    places = torch.randint(len(_EIGHTHS), like.shape, generator=generator)
    multiples = [times * one for one in _EIGHTHS]
    chosen = torch.tensor(multiples)[places]  # so that no arithmetic counts which nobody asked for
    return chosen.to(like.device, like.dtype)


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors of a result or of arguments, inside lists, tuples, dicts and dataclasses too."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from tensors_in(member)
    elif is_dataclass(value) and not isinstance(value, type):
        for one in fields(value):
            yield from tensors_in(getattr(value, one.name))


_DRAWN = frozenset((torch.randn, torch.rand))


class OnDevice(TorchFunctionMode):  # type: ignore[misc]
    """Inside it, a tensor that is made without a device is on this one, as torch's own default device would have it.

    Torch's goes below every other mode, where one that stands in for the GPU would no longer see it.
    """

    def __init__(self, device: str) -> None:
        super().__init__()
        self._device = device
        self._makers = _device_constructors()

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        if func not in self._makers or kwargs.get("device") is not None:
            return func(*args, **kwargs)
        is_drawn_here = kwargs.get("generator") is not None
        is_hollow = (is_drawn_here or func in _DRAWN) and torch.empty((), device=self._device).is_meta
        if is_drawn_here:
            if not is_hollow:  # it makes numbers where it is itself
                return func(*args, **kwargs).to(self._device)
            del kwargs["generator"]
        if is_hollow and func in _DRAWN:  # that of torch imports its symbolic shapes for seconds
            func = torch.empty
        return func(*args, **{**kwargs, "device": self._device})


class _Maker:
    """Makes what stands for an argument into the argument."""

    def __init__(self, subject: Subject, case: Case, at_first: int = 0) -> None:
        self._mutates = frozenset(subject.mutates)
        self._case = case
        self._turns = iter(turns([len(tensor.dims) for tensor in subject.tensors])[at_first:])

    def value(self, value: Any, place: str | int) -> Any:
        if isinstance(value, Tensor):
            return self._tensor(value, next(self._turns), is_written=place in self._mutates)
        if isinstance(value, Size):
            return self._case[value.dim]
        if isinstance(value, Offsets):
            return self._offsets(value)
        if isinstance(value, Mapping):
            return {key: self.value(member, place) for key, member in value.items()}
        if type(value) in (list, tuple):
            return type(value)(self.value(member, place) for member in value)
        return value

    def _tensor(self, spec: Tensor, turn: Turn, *, is_written: bool) -> torch.Tensor:
        case = self._case
        shape = tuple(case[dim] for dim in spec.dims)
        name = spec.dtype or case.dtype
        dtype: torch.dtype = getattr(torch, name)
        is_expanded = case.layout is Layout.EXPANDED and bool(shape) and not is_written
        values_shape = (min(1, shape[0]), *shape[1:]) if is_expanded else shape
        if dtype.is_floating_point:
            values = filled(case, values_shape, dtype, place=turn.place)
        else:
            high = min(case[spec.high], torch.iinfo(dtype).max + 1) if dtype is not torch.bool else case[spec.high]
            is_any = case.fill == ANY_INTEGERS and spec.is_unbounded
            some = _integers(case[spec.low], high, values_shape, case.device)
            if case.fill == RUNS and not is_hollow(some):
                least, seed = case[spec.low], case.seed + turn.place
                some = in_runs(least, max(high - 1, least), values_shape, seed).to(case.device)
            values = _any_integers(some, dtype, turn.place) if is_any else some.to(dtype)
        made = values.expand(shape) if is_expanded else laid_out(values, case.layout, turn)
        if is_hollow(made) and not dtype.is_floating_point:
            imagine(made, case[spec.low], high)
        return made

    def _offsets(self, spec: Offsets) -> torch.Tensor:
        case = self._case
        parts, total = case[spec.parts], case[spec.total]
        ends = torch.tensor([0, total], device=case.device)
        cuts = torch.randint(0, total + 1, (max(0, parts - 1),), device=case.device)
        return torch.cat([ends, cuts]).sort().values[: parts + 1].to(getattr(torch, spec.dtype))


def _integers(low: int, high: int, shape: tuple[int, ...], device: str) -> torch.Tensor:
    """Any from low to below high: where there are several, the first is the least, and the last is the largest.

    One alone is the largest as often as not.
    """
    integers = torch.randint(low, max(high, low + 1), shape, device=device)
    if not integers.numel() or high <= low or is_hollow(integers):
        return integers
    flat = integers.view(-1)
    if len(flat) > 1:
        flat[0], flat[-1] = low, high - 1
    elif bool(torch.randint(2, ())):
        flat[0] = high - 1
    return integers


_TELLING = ((24, 53, 16), (31, 40, 8))
"""The powers of 2 beside what floating-point numbers, or narrower integers, hold exactly.

Those of a tensor are not the next one's, and alike in their low bits.
"""


def _any_integers(like: torch.Tensor, dtype: torch.dtype, place: int) -> torch.Tensor:
    """Such a tensor of integers that the dtype holds: telling ones, and between these any others."""
    limits = torch.iinfo(dtype)
    beside = [sign * ((1 << bits) + 1) for bits in _TELLING[place % len(_TELLING)] for sign in (1, -1)]
    telling = [number for number in beside if limits.min <= number <= limits.max] or [limits.max]
    drawn = torch.randint(max(limits.min, -(1 << 62)), min(limits.max, 1 << 62), like.shape, device=like.device)
    if is_hollow(drawn):
        return drawn.to(dtype)
    flat = drawn.view(-1)
    places = flat[::2]
    places.copy_(torch.tensor(telling, device=like.device).repeat(len(places) // len(telling) + 1)[: len(places)])
    return drawn.to(dtype)


# -- inputs that a function makes ----------------------------------------------------------------------------------


def _given(subject: Subject, case: Case) -> Arguments:
    """What the function gives, varied as the case says where that is not its own affair."""
    is_plain = case.fill == "normal" and case.layout is Layout.CONTIGUOUS
    has_own_sizes = bool(size_names(subject)) or not case.sizes
    given = None if is_plain and has_own_sizes else subject.given
    seed(case)  # finding what is given has drawn numbers
    if given is None:
        return as_given(subject, case)
    asked, ours = _shared_out(subject, given, case)
    made = as_given(subject, asked) if has_own_sizes else _resized(subject, given, asked)
    by_intent = {id(tensor) for tensor in _changed_by_intent(subject, made)}
    varied_: Arguments = each_tensor(
        made, lambda number, tensor: varied(given, ours, number, tensor, is_written=id(tensor) in by_intent)
    )
    return varied_


def _shared_out(subject: Subject, given: Given, case: Case) -> tuple[Case, Case]:
    """What the function is asked for, and what is done to the tensors that it makes: a fill is done once."""
    keeps_fill = given.heeds_fills and case.fill not in given.fills
    plain = replace(case, layout=Layout.CONTIGUOUS, fill=case.fill if keeps_fill else "normal")
    return plain, replace(case, fill="normal" if keeps_fill else case.fill)


def _changed_by_intent(subject: Subject, arguments: Arguments) -> Iterator[torch.Tensor]:
    positional, keywords = arguments
    for place, value in (*enumerate(positional), *keywords.items()):
        if place in subject.mutates:
            yield from tensors_in(value)


def _resized(subject: Subject, given: Given, case: Case) -> Arguments:
    """What the function gives, of other sizes: it makes tensors of these, or those that it makes are cut."""
    sizes = given.changed(case.sizes)
    if torch.empty((), device=case.device).is_meta:
        return _hollow(subject, given, case)
    made = _remade(subject, given, case, sizes) if given.is_remade else None
    full = {**given.sizes, **sizes}
    if made is None:
        seed(case)
        whole = as_given(subject, case)
        made = each_tensor(whole, lambda number, tensor: cut(given.tensors[number], full, tensor))
    fitting: Arguments = each_tensor(made, lambda number, tensor: within(given, sizes, number, tensor))
    return fitting


def _hollow(subject: Subject, given: Given, case: Case) -> Arguments:
    """What the function gives, with tensors of the case's sizes that have no memory to hold anything."""
    full = {**given.sizes, **case.sizes}

    def hollow(number: int, tensor: torch.Tensor) -> torch.Tensor:
        shape = tuple(size_of(dim, full) for dim in given.tensors[number].dims)
        return torch.empty(shape, dtype=tensor.dtype, device=case.device)

    made: Arguments = each_tensor(as_given(subject, replace(case, sizes={})), hollow)
    return made


def _remade(subject: Subject, given: Given, case: Case, sizes: Mapping[str, int]) -> Arguments | None:
    made = remade(subject, case, {given.sizes[name]: size for name, size in sizes.items()})
    return made if made is not None and has_shapes(given, made, sizes) else None


def remade(subject: Subject, case: Case, changes: Mapping[int, int]) -> Arguments | None:
    """What the function gives where it has other sizes in place of some; None where it cannot do that."""
    try:
        with Resized(changes):
            return as_given(subject, case)
    except Exception:  # the rest of what it does may fit its own sizes only
        return None


def as_given(subject: Subject, case: Case) -> Arguments:
    """What the function for the inputs gives when it is asked for this case. Raises TypeError for no arguments."""
    assert callable(subject.inputs)
    names = subject.input_keywords
    with OnDevice(case.device):
        made = subject.inputs(**_asked(subject, case)) if names else subject.inputs(case)
    match made:
        case torch.Tensor():
            return (made,), {}
        case (list() | tuple() as positional, dict() as keywords):
            return tuple(positional), keywords
        case dict():
            return (), made
        case list() | tuple():
            return tuple(made), {}
    kind = type(made).__name__
    raise TypeError(f"the function for the inputs returns a {kind}: return a tensor, a tuple, a dict, or (tuple, dict)")


def _asked(subject: Subject, case: Case) -> dict[str, Any]:
    """What a function that takes keywords is given; one with a default is left to it where the case says nothing."""
    import inspect

    sizes = dict(case.sizes)
    offered = {
        "size": sizes.get("size"),
        "batch": sizes.get("batch"),
        "dtype": getattr(torch, case.dtype),
        "device": case.device,
        **_fill_keywords(case.fill),
    }
    parameters = inspect.signature(subject.inputs).parameters  # type: ignore[arg-type]
    return {
        name: offered.get(name)
        for name, parameter in parameters.items()
        if offered.get(name) is not None or parameter.default is parameter.empty
    }


def _fill_keywords(fill: str) -> dict[str, Any]:
    """A fill as these functions are given it: a number, the name of a pattern, or a special value."""
    if fill == "normal":
        return {}
    if fill == "alternating":
        return {"pattern": fill}
    number = {"zeros": 0.0, "ones": 1.0}.get(fill)
    number = float(fill) if number is None else number
    return {"fill": number} if math.isfinite(number) else {"special": fill}
