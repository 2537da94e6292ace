"""What is stated of a kernel's variables against what they were in a launch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bench.judge.facts.seen import Seen, Watched
from bench.judge.facts.stated import NotKnown, Stated, evaluated, sizes

_ELEMENTS = {
    "f64": ("fp64",), "f32": ("fp32",), "f16": ("fp16",), "bf16": ("bf16",), "i1": ("i1", "u1"),
    "i8": ("i8", "u8"), "i16": ("i16", "u16"), "i32": ("i32", "u32"), "i64": ("i64", "u64"),
}  # fmt: skip
_WRITTEN = frozenset(one for names in _ELEMENTS.values() for one in names)


@dataclass(frozen=True)
class Contradiction:
    """A fact that a launch contradicts: what is stated of a variable, and what was seen."""

    path: str
    kernel: str
    line: int
    variable: str
    fact: str
    stated: str
    seen: str


@dataclass(frozen=True)
class Compared:
    """The facts that were held against a launch, by their kind, and those that it contradicts."""

    path: str
    kernel: str
    checked: tuple[tuple[str, int], ...]
    contradictions: tuple[Contradiction, ...]


def compared(stated: Sequence[Stated], watched: Watched) -> Compared:
    """Each statement against each result of that name at its lines."""
    kernel = watched.launch.kernel
    counts: Counter[str] = Counter()
    found: dict[tuple[int, str, str], Contradiction] = {}
    for seen in watched.seen:
        for one in stated:
            if one.name == seen.name and one.first == seen.line:  # where the outermost operation of what is set begins
                for fact, said, was in _facts(one, seen, watched):
                    counts[fact] += 1
                    if was:
                        place = (kernel.path, kernel.name, one.first, one.name, fact)
                        found.setdefault((one.first, one.name, fact), Contradiction(*place, said, was))
    return Compared(kernel.path, kernel.name, tuple(sorted(counts.items())), tuple(found.values()))


def _facts(one: Stated, seen: Seen, watched: Watched) -> Iterator[tuple[str, str, str]]:
    """Each fact that can be held against what was seen: its kind, what is said, and what was seen if that differs."""
    if one.dtype in _WRITTEN and seen.element in _ELEMENTS:
        yield "dtype", one.dtype, "" if one.dtype in _ELEMENTS[seen.element] else seen.element
    if one.shape is not None and seen.element != "desc":
        yield from _shape(one, seen, watched)
    if seen.elements is not None and seen.elements.numel():
        yield from _number(one, seen, watched)
        yield from _bounds(one, seen)


def _shape(one: Stated, seen: Seen, watched: Watched) -> Iterator[tuple[str, str, str]]:
    assert one.shape is not None
    said = list(sizes(one.shape, watched.given))
    text = str([str(dim) for dim in one.shape])
    if len(said) != len(seen.shape):
        yield "rank", text, str(list(seen.shape))
        return
    yield "rank", text, ""
    if any(size is not None for size in said):
        is_other = any(size not in (None, own) for size, own in zip(said, seen.shape, strict=True))
        yield "shape", text, str(list(seen.shape)) if is_other else ""


def _number(one: Stated, seen: Seen, watched: Watched) -> Iterator[tuple[str, str, str]]:
    import torch

    assert seen.elements is not None
    if one.number is None or seen.elements.dtype.is_floating_point:
        return
    rank = len(seen.shape)
    ids = tuple(one.reshape(-1, *[1] * rank) for one in seen.ids)
    try:
        value = evaluated(one.number, watched.given, (ids[0], ids[1], ids[2]), rank)
        wanted, own = torch.broadcast_tensors(torch.as_tensor(value), seen.elements.to(torch.int64))
    except (NotKnown, RuntimeError):
        return
    differing = (wanted != own).nonzero()
    reported = ""
    if len(differing):
        place = tuple(differing[0].tolist())
        reported = f"{int(own[place])}, where it is {int(wanted[place])}, at {place}"
    yield "number", str(one.number), reported


def _bounds(one: Stated, seen: Seen) -> Iterator[tuple[str, str, str]]:
    assert seen.elements is not None
    numbers = seen.elements.double()
    numbers = numbers[~numbers.isnan()]
    if not numbers.numel():
        return
    if one.lower is not None:
        least = float(numbers.min())
        yield "lower bound", f"{one.lower:g}", "" if least >= one.lower else f"{least:g}"
    if one.upper is not None:
        most = float(numbers.max())
        yield "upper bound", f"{one.upper:g}", "" if most <= one.upper else f"{most:g}"
