"""What is known of a result before it is there: what the references have in its place, element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import torch

from tritonaudit.suites.formats import flat, nearest, top

Tensor: TypeAlias = torch.Tensor

_SAMPLE = 1 << 12
"""Elements among which there are different ones enough, as a rule."""


@dataclass(frozen=True, eq=False)
class Rounded:
    """References in float64 with narrow numbers on the way, each of which is rounded once, and not the last ones.

    Rounded is what enters products of matrices, as tensor cores have it, or what each of the operations gives. Both are
    empty where that is the reference itself.
    """

    in_products: Sequence[Tensor] = ()
    everywhere: Sequence[Tensor] = ()

    def each(self, convert: Callable[[Tensor], Tensor]) -> Rounded:
        return Rounded(*([convert(one) for one in some] for some in (self.in_products, self.everywhere)))


@dataclass(frozen=True, eq=False)
class Expected:
    """The references, all on one device: also in float64, flat, the parts of complex numbers side by side."""

    precise: Tensor
    same: Tensor | None
    perturbed: Sequence[Tensor]
    rounded: Rounded
    usual: float
    from_nan: Tensor | None = None
    """Of the elements, flat, which hang on NaN among the inputs: that they are NaN is no question of the reference's.
    None where the inputs hold none."""
    moved_by: float | None = None
    """By which rounding the inputs of `perturbed` are off; None for the usual one of the results' dtype."""
    _ordinary: dict[Any, Values | None] = field(default_factory=dict)

    @cached_property
    def reference(self) -> Tensor:
        return flat(self.precise).double()

    @cached_property
    def beside(self) -> Tensor | None:
        """What PyTorch gives."""
        return None if self.same is None else flat(self.same).double()

    @cached_property
    def moved(self) -> Tensor:
        """How far each element moves at most when the inputs do."""
        return self.farthest(self.perturbed)

    @cached_property
    def unsteady(self) -> Tensor:
        """Which elements are finite or not by a rounding of the inputs, or of what is computed of them."""
        unsteady = torch.zeros_like(self.reference, dtype=torch.bool)
        for one in self.perturbed:
            unsteady |= ~flat(one).isfinite()
        return unsteady & self.reference.isfinite()

    def farthest(self, others: Sequence[Tensor]) -> Tensor:
        """How far each element of other references is off at most."""
        farthest = torch.zeros_like(self.reference)
        for one in others:
            torch.maximum(farthest, distance(flat(one).double(), self.reference), out=farthest)
        return farthest

    def beside_result(self, output: Tensor, left: Tensor | None = None) -> tuple[Tensor, Values]:
        """A result's elements as those of the references are, and what is wanted of them: nothing of those `left`."""
        dtype = flat(output).dtype
        got = flat(output).double()
        values = self._of_finite(dtype) if left is None else None
        return (got, values) if values is not None and math.isfinite(_most(got)) else self._apart(got, dtype, left)

    def _of_finite(self, dtype: Any) -> Values | None:
        """For finite results of a dtype; None where a reference is not finite, or beyond the dtype's numbers."""
        if dtype not in self._ordinary:
            is_finite = _most(self.reference) <= torch.finfo(dtype).max
            is_ordinary = is_finite and (self.beside is None or math.isfinite(_most(self.beside)))
            is_ordinary &= not bool(self.unsteady.any())
            self._ordinary[dtype] = self._values(dtype, self.reference) if is_ordinary else None
        return self._ordinary[dtype]

    def _apart(self, got: Tensor, dtype: Any, left: Tensor | None) -> tuple[Tensor, Values]:
        """The same where some are not finite or `left`, or a reference is beyond the dtype's numbers."""
        most, reference = top(dtype), self.reference
        rounded = nearest(reference, dtype)
        beside = rounded if self.beside is None else self.beside
        like_reference, like_same = _is_alike(got, rounded), _is_alike(got, beside)
        if most <= torch.finfo(dtype).max:  # without an infinity, what is too large may become NaN as well
            like_reference |= got.isnan() & (reference.abs() > most)
        # what PyTorch has where it differs from the reference will do, and is then what is wanted
        wanted = torch.where(like_same & ~like_reference, beside, reference)
        wanted = torch.where(reference.isfinite(), wanted.clamp(-most, most), wanted)
        unasked = got.isfinite() & ~wanted.isfinite()
        if self.from_nan is not None:
            unasked &= ~self.from_nan
        unasked |= self.unsteady
        if left is not None:
            unasked |= left
        astray = ~(like_reference | like_same | unasked)
        at_the_top = astray & got.isinf() & (got.sign() == wanted.sign()) | (astray & rounded.isinf() & got.isfinite())
        got = torch.where(at_the_top, got.clamp(-most, most), got)
        confused = _is_confused(got, rounded) | _is_confused(got, beside)
        judged = got.isfinite() & wanted.isfinite() & ~unasked
        return got, self._values(dtype, wanted, Apart(judged, astray, confused, unasked))

    def _values(self, dtype: Any, wanted: Tensor, apart: Apart | None = None) -> Values:
        """For results of a dtype of which that is wanted."""
        magnitude = _magnitude(self.precise, wanted)
        if apart is not None:
            magnitude.masked_fill_(~apart.judged, 0.0)
        return Values(dtype, wanted, magnitude, self, apart)


@dataclass(frozen=True, eq=False)
class Apart:
    """Which elements are `judged`: they have an error. `astray` are those that are not finite where they should be, or
    the other way round; `confused` are NaN for infinity, or the other way round; `unasked` are finite where the
    reference is not, which is its question and no fault: as 0 is where nothing is seen, for which it has 0 * inf, or 0
    times what is not seen; those of which a rounding decides whether the reference's are; and those that are off where
    PyTorch's own are not finite, so that the way there leads beyond the dtype's numbers."""

    judged: Tensor
    astray: Tensor
    confused: Tensor
    unasked: Tensor

    @cached_property
    def places(self) -> Tensor:
        """Those of the judged elements."""
        return self.judged.nonzero().flatten()


@dataclass(frozen=True, eq=False)
class Values:
    """What is wanted of the elements of a result. All are judged if none is `apart`.

    `magnitude` is of the whole number, where that is complex, and 0 of what is not judged.
    """

    dtype: Any
    wanted: Tensor
    magnitude: Tensor
    expected: Expected
    apart: Apart | None

    def error(self, other: Tensor) -> Tensor:
        """How far each judged element is from what is wanted; 0 where that is not finite."""
        return self.if_judged(distance(other, self.wanted))

    def if_judged(self, numbers: Tensor) -> Tensor:
        """The same tensor, with 0 for each element that is not judged."""
        return numbers if self.apart is None else numbers.masked_fill_(~self.apart.judged, 0.0)

    def of_judged(self, numbers: Tensor) -> Tensor:
        return numbers if self.apart is None else numbers.index_select(0, self.apart.places)

    @property
    def beyond(self) -> Tensor | None:
        """The judged elements that PyTorch does not get, and the reference in float64 does; None if there are none.

        On the way there, something is beyond the numbers of the dtype: what comes of it depends on the order of steps.
        """
        if self.apart is None or self.expected.beside is None:
            return None
        beyond = self.apart.judged & ~self.expected.beside.isfinite()
        return beyond if bool(beyond.any()) else None

    def distinct(self, enough: int) -> int:
        """How many numbers are not the same, if fewer than `enough`: elements that are alike have errors that are."""
        return distinct(self.of_judged(self.wanted), enough)


def distinct(numbers: Tensor, enough: int) -> int:
    """How many numbers are not the same in float32, if fewer than `enough`, which some of them may show; else more."""
    some = numbers[:: max(1, len(numbers) // _SAMPLE)]
    found = len(some.float().unique())
    return found if found >= enough or len(some) == len(numbers) else len(numbers.float().unique())


def distance(one: Tensor, other: Tensor) -> Tensor:
    """How far apart the elements are; 0 where that is not finite."""
    return (one - other).abs_().nan_to_num_(0.0, 0.0, 0.0)


def _most(numbers: Tensor) -> float:
    """The largest magnitude, NaN where there is one."""
    return float(torch.stack(numbers.aminmax()).abs().max())


def _is_alike(one: Tensor, other: Tensor) -> Tensor:
    """Where both are finite, infinite with the same sign, or NaN."""
    return (one.isfinite() & other.isfinite()) | (one == other) | (one.isnan() & other.isnan())


def _is_confused(one: Tensor, other: Tensor) -> Tensor:
    return ~one.isfinite() & ~other.isfinite() & (one.isnan() ^ other.isnan())


def _magnitude(precise: Tensor, parts: Tensor) -> Tensor:
    """That of each number; of a complex one as far as its parts are finite."""
    if not precise.is_complex():
        return parts.abs()
    return parts.masked_fill(~parts.isfinite(), 0.0).reshape(-1, 2).norm(dim=1).repeat_interleave(2)
