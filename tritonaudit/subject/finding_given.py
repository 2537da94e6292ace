"""Finds what a function for the inputs gives, without making more of it than need be. Imports torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch

from tritonaudit.capture.standin import Host, tensors_on
from tritonaudit.execute.blame import text_of
from tritonaudit.subject.asking import reaching
from tritonaudit.subject.dimension import Dimension
from tritonaudit.subject.given import Given, GivenTensor, dimension_name
from tritonaudit.subject.inputs import Arguments, as_given, remade, seed, tensors_in
from tritonaudit.subject.kernelbench import Built
from tritonaudit.subject.model import INTEGER, Case, Subject
from tritonaudit.subject.refusals import refusals
from tritonaudit.subject.size_kind import size_names
from tritonaudit.subject.sweep import compile_cases
from tritonaudit.subject.varying import has_shapes

_LOOKED_AT = 1 << 22
"""Elements, of which the values are looked at as they are given."""
_MOST = 1 << 27
"""Elements that are made for that where the function makes no fewer."""
_FEW = 64
"""Of each dimension, where it does."""
_FILLING = frozenset(("fill", "pattern", "special"))
"""Keywords by which a function is asked for a fill."""


def found(subject: Subject) -> Given | None:
    """What the subject's function for the inputs gives; None where it fails, or leaves nothing to vary."""
    case = compile_cases(subject)[0]
    try:
        with tensors_on(Host.META):
            hollow = _made(subject, replace(case, device="meta"))
    except (Exception, SystemExit):
        hollow = None
    try:
        values = _valued(subject, case, hollow)
        return _found(subject, case, hollow or values or ((), {}), values)
    except (Exception, SystemExit):  # whatever the function does: its cases show it
        return None


def _made(subject: Subject, case: Case) -> Arguments:
    seed(case)
    return as_given(subject, case)


def _with_data(subject: Subject, case: Case) -> Arguments:
    with tensors_on(Host.CPU):
        return _made(subject, replace(case, device="cpu"))


def _elements(arguments: Arguments) -> int:
    return sum(tensor.numel() for tensor in tensors_in(arguments))


def _valued(subject: Subject, case: Case, hollow: Arguments | None) -> Arguments | None:
    """The arguments with values like those that are given, of fewer elements where the `hollow` ones have many."""
    if hollow is None or _elements(hollow) <= _LOOKED_AT:
        return _with_data(subject, case)
    return _fewer(subject, case, hollow)


def _fewer(subject: Subject, case: Case, hollow: Arguments) -> Arguments | None:
    """Values like those given, of tensors with fewer elements; None where not even these can be had."""
    sizes = {size for tensor in tensors_in(hollow) for size in tensor.shape}
    changes = {size: _FEW + number for number, size in enumerate(sorted(sizes)) if size > _FEW + len(sizes)}
    with tensors_on(Host.CPU):
        seed(case)
        made = remade(subject, replace(case, device="cpu"), changes)
    wanted = [tuple(changes.get(size, size) for size in tensor.shape) for tensor in tensors_in(hollow)]
    if made is not None and [tuple(tensor.shape) for tensor in tensors_in(made)] == wanted:
        return made
    return _with_data(subject, case) if _elements(hollow) <= _MOST else None


def _found(subject: Subject, case: Case, arguments: Arguments, values: Arguments | None) -> Given | None:
    """From the arguments, of which nothing but sizes counts, and others with values like theirs."""
    tensors = list(tensors_in(arguments))
    if not tensors:
        return None
    known = [_unknown(tensor) for tensor in tensors] if values is None else map(_facts, tensors_in(values))
    facts = tuple(
        replace(one, dims=tuple(tensor.shape), is_contiguous=tensor.is_contiguous())
        for one, tensor in zip(known, tensors, strict=True)
    )
    keywords = subject.input_keywords
    heeds = not _FILLING.isdisjoint(keywords) if keywords else _heeds_fills(subject, case, arguments, values)
    plain = Given(facts, heeds_fills=heeds)
    held = _held(subject)
    given = plain if size_names(subject) else _with_sizes(subject, case, plain, arguments, held)
    is_whole = values is not None and [one.shape for one in tensors_in(values)] == [one.shape for one in tensors]
    if values is None or not is_whole:
        return given
    return reaching(subject, given, values, {} if isinstance(held, str) else held)


def _held(subject: Subject) -> Mapping[int, str] | str:
    """The sizes that a model hangs on which is the reference, and as what it has each; or why that is not known."""
    try:
        return subject.reference.sizes_held() if isinstance(subject.reference, Built) else {}
    except (Exception, SystemExit) as error:
        return f"the reference cannot be built without memory: {text_of(error)}"


def _name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _unknown(tensor: torch.Tensor) -> GivenTensor:
    """A tensor whose values are not known: integers may be offsets."""
    return GivenTensor((), _name(tensor), is_ordered=_name(tensor) in INTEGER)


def _facts(tensor: torch.Tensor) -> GivenTensor:
    name = _name(tensor)
    facts = GivenTensor((), name)
    if tensor.is_complex() or not tensor.numel():
        return facts
    wide = tensor.detach().double() if tensor.is_floating_point() else tensor.to(torch.int64)
    numbers = wide[~wide.isnan()]
    if not numbers.numel():
        return facts
    low, high = float(numbers.min()), float(numbers.max())
    ascends = wide.dim() > 0 and wide.shape[-1] > 1 and bool((wide[..., 1:] >= wide[..., :-1]).all())
    is_integer = name in INTEGER and name != "bool" and low < high
    places = wide[wide >= 0]  # what is below 0 is a mark, and no place
    is_distinct = is_integer and places.numel() > 2 and places.unique().numel() == places.numel()
    return replace(facts, low=low, high=high, is_ordered=is_integer and ascends, is_distinct=is_distinct)


def _heeds_fills(subject: Subject, case: Case, arguments: Arguments, plain: Arguments | None) -> bool:
    """Whether zeros and NaN arrive in its tensors where a case asks for them: others tell of chance alone."""
    try:
        zeros, nan = (_valued(subject, replace(case, fill=fill), arguments) for fill in ("zeros", "nan"))
        return _arrives(lambda one: bool(one.eq(0).all()), plain, zeros) and _arrives(
            lambda one: bool(one.isnan().any()), plain, nan
        )
    except (Exception, SystemExit):  # it knows no fills
        return False


def _arrives(is_there: Callable[[torch.Tensor], bool], plain: Arguments | None, asked: Arguments | None) -> bool:
    """Whether it is there in a tensor of what was asked for, and without being asked for is not."""
    pairs = zip(tensors_in(plain), tensors_in(asked), strict=True)
    wide = ((one.double(), other.double()) for one, other in pairs if other.is_floating_point())
    return any(is_there(other) and not is_there(one) for one, other in wide)


# -- sizes ---------------------------------------------------------------------------------------------------------


def _with_sizes(
    subject: Subject, case: Case, plain: Given, arguments: Arguments, held: Mapping[int, str] | str
) -> Given:
    """With the dimensions named that may have other sizes: equal sizes are one dimension."""
    sizes = dict.fromkeys(size for tensor in plain.tensors for size in tensor.dims if isinstance(size, int))
    kept = {size: why for size in sizes if (why := _why_kept(plain, arguments, held, size))}
    free = {dimension_name(size): size for size in sizes if size > 1 and size not in kept}
    tensors = tuple(replace(tensor, dims=tuple(_named(dim, free) for dim in tensor.dims)) for tensor in plain.tensors)
    given = replace(plain, tensors=tensors, sizes=free)
    given = replace(given, is_remade=_is_remade(subject, case, given))
    given = replace(given, why_not=refusals(subject, given, arguments))
    refused = {name: why for name, size in free.items() if (why := _why_refused(given, name, size))}
    fixed = {name: free[name] for name in refused}
    tensors = tuple(replace(tensor, dims=tuple(fixed.get(str(dim), dim) for dim in tensor.dims)) for tensor in tensors)
    return replace(
        given,
        tensors=tensors,
        sizes={name: size for name, size in free.items() if name not in refused},
        kept={**{dimension_name(size): why for size, why in kept.items() if size > 1}, **refused},
    )


def _named(dim: Dimension, free: Mapping[str, int]) -> Dimension:
    return dimension_name(dim) if isinstance(dim, int) and dimension_name(dim) in free else dim


def _why_kept(plain: Given, arguments: Arguments, held: Mapping[int, str] | str, size: int) -> str:
    """Why a dimension of this size can have no other, as far as what is given and held shows that."""
    if isinstance(held, str):
        return held
    if size in held:
        return f"{size} is {held[size]}"
    if size in _numbers_in(arguments):
        return f"{size} is an input, too"
    ordered = [tensor for tensor in plain.tensors if tensor.is_ordered]
    if any(size in tensor.dims or size >= tensor.high > 0 for tensor in ordered):
        return "integers that ascend are given, which may point into it"
    return ""


def _numbers_in(value: Any) -> Iterator[int]:
    if type(value) is int:
        yield value
    elif isinstance(value, Mapping):
        yield from _numbers_in(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _numbers_in(member)


def _probes(size: int) -> tuple[int, ...]:
    """Sizes in place of one: half of it, one less, and the least."""
    return tuple(dict.fromkeys(other for other in (size // 2, size - 1, 1) if 0 < other < size))


def _is_remade(subject: Subject, case: Case, given: Given) -> bool:
    """Whether the function makes tensors of other sizes itself when it has these in place of its own."""
    other = {name: _probes(size)[0] for name, size in given.sizes.items()}
    with tensors_on(Host.META):
        seed(case)
        changes = {given.sizes[name]: size for name, size in other.items()}
        made = remade(subject, replace(case, device="meta"), changes)
    return bool(other) and made is not None and has_shapes(given, made, other)


def _why_refused(given: Given, name: str, size: int) -> str:
    first, *others = _probes(size)
    why = given.why_not({name: first})
    return why if why and all(given.why_not({name: other}) for other in others) else ""
