"""Relations between the results of a wrapper of which nobody says what they should be. Imports torch: for workers.

A wrapper that takes tensors which lie otherwise, parts of a batch, other dtypes or another config has to give what it
gave for the same values before, whatever that is. Whether a relation holds for a wrapper at all is seen on the wrapper
itself: one that does not hold in the ordinary case says nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import torch

from tritonaudit.capture.launch import KernelRef
from tritonaudit.finding import Status
from tritonaudit.subject.guessed import GuessedSubject
from tritonaudit.subject.inputs import Arguments, make_inputs, passed_in, tensors_in
from tritonaudit.subject.inputs import eighths as passed_backward
from tritonaudit.subject.model import Case, Layout, Subject
from tritonaudit.suites import memory
from tritonaudit.suites.apart.messages import Unsendable
from tritonaudit.suites.calling import Called, Device, How, Result, call_subject
from tritonaudit.suites.correctness import blocks_of, crash_words
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.formats import wide
from tritonaudit.suites.judgement import Judgement
from tritonaudit.suites.noise import HALVES, Noise
from tritonaudit.suites.outcome import CaseOutcome, Sighting
from tritonaudit.suites.references import converted, off_by_a_rounding
from tritonaudit.suites.rows import axis_of, picked
from tritonaudit.suites.tolerance import judge
from tritonaudit.suites.wrapper import wrapper_ref

_GROSS = 0.01
"""Of the root mean square of what is wanted, what is off by less may be rounding."""
_GROSS_ROUNDINGS = 32
"""In a narrow type, so many roundings may be, too."""
_GRADIENT = "gradient of "
_OTHER_SLOPES = "nothing shows whether its gradients are meant to be others, as an estimate's may be"
_DRAWS = 2
_PLAIN = How()
_STEP = 1.0 / 64
_SLOPE = 0.05
"""By that part of it a derivative may be off from the quotient of differences."""
_OF_LAYOUT = {
    Layout.TRANSPOSED: "transposed",
    Layout.EXPANDED: "expanded along the first dimension",
    Layout.OFFSET: "one element into wider rows",
    Layout.PADDED: "with each matrix after the first in wider rows",
}


class NotCalled(Exception):
    """Why the wrapper could not be called with what a relation is about."""


class Undefined(NotCalled):
    """What a call does is undefined, as the `sightings` show."""

    def __init__(self, sightings: Sequence[Sighting]) -> None:
        first = sightings[0]
        super().__init__(f"what it does is undefined with these inputs: {first.symptom.value}, {first.text}")
        self.sightings = tuple(sightings)


@dataclass(frozen=True, eq=False)
class Known:
    """What a call gave that others are held against: also on inputs that are off by a rounding."""

    called: Called
    moved: tuple[Called, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        return self.called.results


@dataclass
class Relations:
    """Tries relations of one subject; each function of a case says what came of one."""

    device: Device
    subject: Subject
    _known: dict[str, Known] = field(default_factory=dict)

    # -- relations ---------------------------------------------------------------------------------------------------

    def ordinary(self, case: Case) -> CaseOutcome:
        """That it can be called at all, with inputs for which what it does is defined."""
        try:
            called = self._at(case).called
        except Undefined as error:
            raise NotCalled(str(error)) from error
        launches = [ran.launch for ran in called.ran]
        return CaseOutcome(
            case,
            frozenset((Symptom.BROKEN_RELATION,)),
            blocks=frozenset(size for launch in launches for size in blocks_of(launch)),
            kernels=tuple(dict.fromkeys(launch.kernel for launch in launches)),
            configs=tuple(dict.fromkeys(launch.config for launch in launches if launch.config)),
        )

    def elsewhere(self, case: Case) -> CaseOutcome:
        """Other sizes are taken, and what it does with them is defined."""
        self._at(case)
        return self._found(case, ())

    def again(self, case: Case) -> CaseOutcome:
        """The same call twice in a row."""
        first = Known(self._called(case), ())
        return self._found(case, self._unlike(first, self._called(case), "called again"))

    def after(self, other: Case, case: Case) -> CaseOutcome:
        """The same call after one with other sizes."""
        first = Known(self._called(case), ())
        self._called(other)
        return self._found(case, self._unlike(first, self._called(case), f"called again after {other.label}"))

    def laid_out(self, laid: Case) -> CaseOutcome:
        """The same values in tensors that lie otherwise."""
        layout, given = laid.layout, self._laid(laid)
        is_other = layout is Layout.EXPANDED
        first = self._known_of(laid, _contiguous(given)) if is_other else self._at(_plainly(laid))
        if is_other and first.called.changed:
            raise NotCalled(f"it changes {first.called.changed[0].name}, whose rows then are one")
        other = self._called(laid, given)
        text = f"tensors {_OF_LAYOUT[layout]}, of the same values,"
        found = self._unlike(first, other, text)
        if found:
            found = self._unlike(first, other, f"{text} {self._by_one(laid, first)}".rstrip(" ,"))
        return self._found(laid, found, other)

    def slack(self, case: Case) -> CaseOutcome:
        """NaN in memory between rows, where zeros change nothing."""
        sightings: list[Sighting] = []
        refusal: NotCalled | None = None
        tried = 0
        for layout in (Layout.OFFSET, Layout.PADDED):
            laid = replace(case, layout=layout)
            try:
                zeros = self._known_of(laid, self._inputs(laid))
                other = self._called(laid, _with_slack(self._inputs(laid)))
            except NotCalled as error:
                refusal = error
                continue
            tried += 1
            sightings += self._unlike(zeros, other, "with NaN instead of 0 in memory beside the rows of tensors")
        if not tried and refusal is not None:
            raise refusal
        return self._found(case, sightings)

    def parts(self, dim: str, ordinary: Case, sizes: Sequence[int], case: Case) -> CaseOutcome:
        """What is computed of parts of a batch, of these sizes, is the same part of what is computed of all of it."""
        half = ordinary[dim] // 2
        before = self._at(ordinary)
        for start in (0, half):
            if reason := self._of_part(dim, ordinary, before, start, half)[1]:
                return _none(case, f"in an ordinary case parts along `{dim}` {reason}")
        whole = self._at(case)
        tried = 0
        for size in [size for size in sizes if size < case[dim]]:
            for start in dict.fromkeys((0, case[dim] - size)):
                try:
                    sightings = self._of_part(dim, case, whole, start, size)[0]
                except NotCalled:  # it says that it does not take it
                    continue
                tried += 1
                if sightings:
                    return self._found(case, sightings)
        return self._found(case, ()) if tried else _none(case, f"it takes no parts along `{dim}`")

    def permuted(self, dim: str, ordinary: Case, case: Case) -> CaseOutcome:
        """Rows in another order give rows in that order."""
        if self._of_order(dim, ordinary):
            return _none(case, f"in an ordinary case what is computed along `{dim}` depends on the order there")
        return self._found(case, self._of_order(dim, case))

    def narrow(self, ordinary: Case, case: Case) -> CaseOutcome:
        """What is computed in a narrow type is near what is computed of the same numbers in float32."""
        if self._of_narrow(replace(ordinary, dtype=case.dtype)):
            return _none(case, "in an ordinary case it is farther from float32 than roundings explain")
        return self._found(case, self._of_narrow(case))

    def configured(self, number: int, case: Case) -> CaseOutcome:
        """Another config of an autotuner gives what the first does."""
        first = self._at(case)
        other = self._called(case, how=How(config=number))
        chosen = next((ran.launch.config for ran in other.ran if ran.launch.config), "")
        if chosen in [ran.launch.config for ran in first.called.ran]:
            return _none(case, "there are no more configs")
        return self._found(case, self._unlike(first, other, f"with the config {chosen}"), other)

    def slopes(self, ordinary: Case, case: Case) -> CaseOutcome:
        """What backward gives are the slopes of what forward gives."""
        if found := self._of_slopes(ordinary):
            return self._found(ordinary, [replace(one, question=_OTHER_SLOPES) for one in found])
        return self._found(case, self._of_slopes(case))

    # -- what they come to -------------------------------------------------------------------------------------------

    def _of_part(self, dim: str, case: Case, whole: Known, start: int, size: int) -> tuple[list[Sighting], str]:
        sizes = {**case.sizes, dim: size}
        part = replace(case, sizes=sizes)
        pick = partial(_part, start=start, size=size)
        called = self._called(part, picked(self.subject, whole.called.given, dim, sizes, pick))
        pairs = self._along(whole, called, (case[dim], size))
        if not pairs:
            return [], "have no results of their own"
        wanted = self._cut(whole, pairs, pick)
        text = f"of {dim}={case[dim]}, {start} to {start + size - 1} alone"
        found = self._compared(wanted, called, [place for place, _ in pairs], text)
        found += _beyond(whole.called, called)
        return found, "are computed otherwise than in all of it" if found else ""

    def _of_order(self, dim: str, case: Case) -> list[Sighting]:
        whole, size = self._at(case), case[dim]
        order = torch.randperm(size, generator=torch.Generator().manual_seed(size))
        pick = partial(_reordered, order=order)
        half = partial(_part, start=0, size=size // 2)
        sizes = {**case.sizes, dim: size // 2}
        part = self._called(replace(case, sizes=sizes), picked(self.subject, whole.called.given, dim, sizes, half))
        pairs = self._along(whole, part, (size, size // 2))
        if not pairs:
            raise NotCalled(f"no result has `{dim}`")
        called = self._called(case, picked(self.subject, whole.called.given, dim, case.sizes, pick))
        wanted = self._cut(whole, pairs, pick)
        return self._compared(wanted, called, [place for place, _ in pairs], f"with rows along {dim} in another order")

    def _of_narrow(self, case: Case) -> list[Sighting]:
        given = self._inputs(case)
        dtype = getattr(torch, case.dtype)
        assert dtype in HALVES

        def in_single(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            return [tensor.float() for tensor in tensors]

        single = self._known_of(replace(case, dtype="float32"), converted(given, in_single, frozenset((dtype,))))
        called = self._called(case, given)
        places = [
            place
            for place, (one, other) in enumerate(zip(single.results, called.results, strict=False))
            if one.tensor.is_floating_point() and other.tensor.dtype in (dtype, torch.float32)
        ]
        wanted = [[one.results[place].tensor for place in places] for one in (single.called, *single.moved)]
        least = max(_GROSS, _GROSS_ROUNDINGS * torch.finfo(dtype).eps)
        return self._compared(wanted, called, places, f"in {case.dtype}, beside float32 of the same numbers", least)

    def _of_slopes(self, case: Case) -> list[Sighting]:
        base = self._at(case)
        outputs = [result for result in base.results if result.name.startswith("output")]
        gradients = [result for result in base.results if result.name.startswith(_GRADIENT)]
        if len(outputs) != 1 or not gradients or not outputs[0].tensor.is_floating_point():
            raise NotCalled("it has not one output and gradients")
        found: list[Sighting] = []
        inputs = [one for one in tensors_in(base.called.given) if one.requires_grad]
        if len(inputs) != len(gradients):
            raise NotCalled("not every tensor has a gradient")
        for place, gradient in enumerate(gradients):
            along = gradient.tensor.double().sign()
            expected = float((gradient.tensor.double() * along).sum())
            here = [self._loss(case, base, place, along, sign * _STEP) for sign in (1, -1, 2, -2)]
            slopes = (here[0] - here[1]) / (2 * _STEP), (here[2] - here[3]) / (4 * _STEP)
            is_smooth = abs(slopes[0] - slopes[1]) <= _SLOPE * max(abs(slopes[0]), abs(slopes[1]))
            if is_smooth and abs(slopes[0] - expected) > _SLOPE * max(abs(slopes[0]), abs(expected)):
                text = f"{gradient.name} says {expected:.6g}, where the results change by {slopes[0]:.6g} along it"
                found.append(_sighting(self.subject, base.called, gradient, text))
        return found

    def _loss(self, case: Case, base: Known, place: int, along: torch.Tensor, step: float) -> float:
        """What is passed backward times what is given, where the tensor in that place of those with gradients moves."""
        types = frozenset(one.dtype for one in tensors_in(base.called.given) if one.requires_grad)
        have = [one.requires_grad for one in tensors_in(base.called.given) if one.dtype in types]
        chosen = [number for number, has in enumerate(have) if has][place]

        def moved(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            return [
                (one.double() + step * along).to(one.dtype) if number == chosen else one.clone()
                for number, one in enumerate(tensors)
            ]

        called = self._called(case, converted(base.called.given, moved, types))
        output = next(result.tensor for result in called.results if result.name.startswith("output"))
        return float((output.double() * passed_backward(output, passed_in(case).times).double()).sum())

    def _laid(self, case: Case) -> Arguments:
        """The inputs, of which those lie as the case says that users may choose; the others lie contiguously."""
        free, given = _free(self.subject), self._inputs(case)
        names = getattr(self.subject, "names", ())
        if free is None or len(list(tensors_in(given))) != len(names):
            return given
        turn = iter(names)

        def placed(tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
            return [one.detach() if next(turn) in free else one.contiguous().clone() for one in tensors]

        return converted(given, placed, frozenset(one.dtype for one in tensors_in(given)))

    def _by_one(self, laid: Case, first: Known) -> str:
        """Which of the tensors has to lie so by itself."""
        if laid.layout is Layout.EXPANDED:
            return ""
        alone = []
        names = getattr(self.subject, "names", ())
        free = _free(self.subject)
        count = len(list(tensors_in(first.called.given)))
        for place in range(count if count > 1 else 0):
            if free is not None and (count != len(names) or names[place] not in free):
                continue
            try:
                other = self._called(laid, _only(place, self._inputs(laid), self._inputs(_plainly(laid))))
            except NotCalled:
                continue
            if self._unlike(first, other, ""):
                alone.append(f"`{names[place]}`" if count == len(names) else f"tensor {place}")
        return f"which {' or '.join(alone)} alone need" if alone else ""

    # -- calls -------------------------------------------------------------------------------------------------------

    def _inputs(self, case: Case) -> Arguments:
        with self.device.observing(How(is_checked=False)):
            return make_inputs(self.subject, case)

    def _at(self, case: Case) -> Known:
        """What the case gives: called once. Raises NotCalled."""
        if case.label not in self._known:
            self._known[case.label] = self._known_of(case, self._inputs(case))
        return self._known[case.label]

    def _known_of(self, case: Case, given: Arguments) -> Known:
        called = self._called(case, given)
        if not called.results:
            raise NotCalled("it gives no tensor")
        if not called.ran:
            raise NotCalled("it launches no kernel")
        if beyond := [one for one in memory.sightings(called) if one.is_certain]:
            raise Undefined(beyond)
        moved = []
        for draw in range(_DRAWS):
            try:
                moved.append(self._called(case, off_by_a_rounding(given, Noise(draw))))
            except NotCalled:
                continue
        return Known(called, tuple(moved))

    def _called(self, case: Case, arguments: Arguments | None = None, how: How = _PLAIN) -> Called:
        called = call_subject(
            self.device, self.subject, case, how, self._inputs(case) if arguments is None else arguments
        )
        if called.error is not None:
            raise NotCalled(crash_words(called.error))
        return called

    # -- comparisons -------------------------------------------------------------------------------------------------

    def _unlike(self, first: Known, other: Called, text: str) -> list[Sighting]:
        places = range(len(first.results))
        wanted = [[result.tensor for result in one.results] for one in (first.called, *first.moved)]
        return self._compared(wanted, other, places, text)

    def _along(self, whole: Known, part: Called, sizes: tuple[int, int]) -> list[tuple[int, int]]:
        """The results that have the dimension, and along which axis; what is passed backward depends on all sizes."""
        pairs = zip(whole.results, part.results, strict=False)
        axes = [axis_of(one.tensor.shape, other.tensor.shape, sizes) for one, other in pairs]
        is_forward = [not result.name.startswith(_GRADIENT) for result in whole.results]
        return [(place, axis) for place, axis in enumerate(axes) if axis is not None and is_forward[place]]

    def _cut(
        self, whole: Known, pairs: Sequence[tuple[int, int]], pick: Callable[[torch.Tensor, int], torch.Tensor]
    ) -> list[list[torch.Tensor]]:
        return [
            [pick(one.results[place].tensor, axis) for place, axis in pairs] for one in (whole.called, *whole.moved)
        ]

    def _compared(
        self,
        wanted: Sequence[Sequence[torch.Tensor]],
        called: Called,
        places: Sequence[int],
        text: str,
        least: float = _GROSS,
    ) -> list[Sighting]:
        """What is not as wanted of the results in these places; the wanted ones are those known, then those moved."""
        found = []
        for number, place in enumerate(places):
            if place >= len(called.results):
                continue
            result, first = called.results[place], wanted[0][number]
            if result.tensor.shape != first.shape:
                shapes = f"the shape is {tuple(result.tensor.shape)} instead of {tuple(first.shape)}"
                found.append(_sighting(self.subject, called, result, f"{result.name}: {text}: {shapes}"))
                continue
            got = result.tensor.to(first.dtype)
            if result.unwritten is not None and not self.device.is_engine:  # there by chance
                got = torch.where(result.unwritten, first, got)
            moved = [wide(one[number]) for one in wanted[1:]]
            judgement = judge(got, wide(first), first, moved)
            if _is_gross(judgement, first, least):
                found.append(_sighting(self.subject, called, result, f"{result.name}: {text}: {judgement.reason}"))
        return found

    def _found(self, case: Case, sightings: Sequence[Sighting], called: Called | None = None) -> CaseOutcome:
        base = self._known.get(_plainly(case).label)
        kernels = () if base is None else tuple(dict.fromkeys(ran.launch.kernel for ran in base.called.ran))
        beyond = [] if called is None or base is None else _beyond(base.called, called)
        checked = frozenset((Symptom.BROKEN_RELATION, *(one.symptom for one in beyond)))
        return CaseOutcome(case, checked, (*sightings, *beyond), kernels=kernels)


def tried(work: Callable[[Case], CaseOutcome]) -> Callable[[Case], CaseOutcome]:
    """The work, which says why a relation says nothing where the wrapper cannot be called with what it is about."""

    def attempt(case: Case) -> CaseOutcome:
        try:
            return work(case)
        except Undefined as error:
            symptoms = frozenset(one.symptom for one in error.sightings)
            return CaseOutcome(case, symptoms | {Symptom.BROKEN_RELATION}, error.sightings)
        except (NotCalled, Unsendable) as error:
            return _none(case, str(error))

    return attempt


def _free(subject: Subject) -> frozenset[str] | None:
    """The parameters of which users choose how their tensors lie; None for all."""
    return subject.free if isinstance(subject, GuessedSubject) else None


def _plainly(case: Case) -> Case:
    return replace(case, layout=Layout.CONTIGUOUS)


def _none(case: Case, reason: str) -> CaseOutcome:
    """A relation that says nothing in a case, and why."""
    return CaseOutcome(case, frozenset(), unchecked=((Symptom.BROKEN_RELATION, reason),), is_refused=True)


def _is_gross(judgement: Judgement, wanted: torch.Tensor, least: float) -> bool:
    """Whether it is farther off than another order of operations explains."""
    if judgement.status is not Status.FAIL:
        return False
    if judgement.nonfinite is not None or not wanted.is_floating_point():
        return True
    finite = wanted[wanted.isfinite()].double()
    size = float(finite.square().mean().sqrt()) if finite.numel() else 0.0
    return judgement.error.max > least * size


def _beyond(before: Called, called: Called) -> list[Sighting]:
    """What is out of bounds, and the like, that was not before."""
    had = {(one.symptom, one.place) for one in memory.sightings(before)}
    return [one for one in memory.sightings(called) if one.is_certain and (one.symptom, one.place) not in had]


def _sighting(subject: Subject, called: Called, result: Result | None, text: str) -> Sighting:
    kernel: KernelRef = wrapper_ref(subject)
    place = None
    ran = None if result is None else called.last_writer(result)
    if ran is not None and result is not None:
        kernel, place = ran.launch.kernel, ran.written.get(result.storage)
    return Sighting(Symptom.BROKEN_RELATION, kernel, place, text)


# -- arguments ---------------------------------------------------------------------------------------------------------


def _part(tensor: torch.Tensor, axis: int, start: int, size: int) -> torch.Tensor:
    return tensor.narrow(axis, start, size)


def _reordered(tensor: torch.Tensor, axis: int, order: torch.Tensor) -> torch.Tensor:
    return tensor.index_select(axis, order)


def _contiguous(given: Arguments) -> Arguments:
    types = frozenset(tensor.dtype for tensor in tensors_in(given))
    return converted(given, lambda tensors: [one.contiguous().clone() for one in tensors], types)


def _only(place: int, laid: Arguments, plain: Arguments) -> Arguments:
    """The plain arguments, with the tensor in that place as it is laid."""
    tensors = list(tensors_in(laid))
    turn = iter(range(len(tensors)))

    def chosen(ones: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        return [tensors[place].detach() if next(turn) == place else one for one in ones]

    return converted(plain, chosen, frozenset(tensor.dtype for tensor in tensors))


def _with_slack(given: Arguments) -> Arguments:
    """The same tensors, in memory that holds NaN wherever they have no element."""
    types = frozenset(tensor.dtype for tensor in tensors_in(given) if tensor.is_floating_point())
    return converted(given, lambda tensors: list(map(_in_slack, tensors)), types)


def _in_slack(tensor: torch.Tensor) -> torch.Tensor:
    elements = tensor.untyped_storage().nbytes() // tensor.element_size()
    if elements == tensor.numel() or tensor.element_size() == 1:
        return tensor.clone()
    held = torch.full((elements,), float("nan"), dtype=tensor.dtype, device=tensor.device)
    view = held.as_strided(tensor.shape, tensor.stride(), tensor.storage_offset())
    return view.copy_(tensor)
