"""From what code and notes say about tensors to their ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tritonaudit.subject.guess.conventions import is_attention, is_weight, usual_rank
from tritonaudit.subject.guess.notes import Note
from tritonaudit.subject.guess.usage import Usage

_NOTED = 5  # against 10 for a rank that the code relies on


@dataclass
class Ranks:
    """The rank of each tensor, and for which of them it is only a guess."""

    of: dict[str, int] = field(default_factory=dict)
    guessed: set[str] = field(default_factory=set)


def ranks_of(tensors: list[str], usage: Usage, notes: Mapping[str, Note], default: int | None) -> Ranks:
    """The rank of each tensor; what nothing tells is `default`, or else like the first tensor that is known."""
    ranks = Ranks()
    for name in tensors:
        rank, is_sure = _rank(name, usage, notes.get(name))
        if rank:
            ranks.of[name] = rank
            if not is_sure:
                ranks.guessed.add(name)
    _spread(ranks, usage, tensors)
    _like_family(ranks, usage, tensors)
    if default is not None:
        for name in ranks.guessed:
            ranks.of[name] = max(default, usage.of(name).least_rank)
    for name in tensors:
        if name not in ranks.of:
            ranks.of[name] = usual_rank(name) or default or _likely(name, ranks, tensors, usage)
            ranks.guessed.add(name)
    return ranks


def _likely(name: str, ranks: Ranks, tensors: list[str], usage: Usage) -> int:
    """The rank of a tensor of which nothing is known: that of the first that is known, one for a weight beside it."""
    twin = name.replace("sin", "cos")
    if twin != name and twin in ranks.of:
        return ranks.of[twin]
    first = next((ranks.of[other] for other in tensors if other in ranks.of), None)
    if first is None:
        is_counted = any(one == name and other == name for one, other, _ in usage.same_shape)
        return 1 if is_counted else 2
    attends = any(is_attention(other) and ranks.of.get(other, 0) >= 3 for other in tensors)
    return 1 if is_weight(name, tensors) and not attends else first


def _rank(name: str, usage: Usage, note: Note | None) -> tuple[int, bool]:
    """The rank that most speaks for, 0 if nothing does, and whether it is more than the least possible one."""
    use = usage.of(name)
    votes = Counter({rank: count for rank, count in use.ranks.items() if rank >= use.least_rank})
    if note is not None and note.dims is not None and not note.is_partial and len(note.dims) >= use.least_rank:
        votes[len(note.dims)] += _NOTED
    if votes:
        return votes.most_common(1)[0][0], True
    if asked := [rank for rank in use.asked_ranks if rank >= use.least_rank]:
        return asked[0], True
    least = max(use.least_rank, len(note.dims) if note is not None and note.dims is not None else 0)
    if least == 1 and all(axis < 0 for axis in use.axes):
        return 1 if is_weight(name, usage.parameters) else 2, False  # only the last axis is spoken of
    if least == 1 and use.is_reshaped:
        return 2, False
    return least, bool(least) and any(axis >= 0 for axis in use.axes)


def _like_family(ranks: Ranks, usage: Usage, tensors: list[str]) -> None:
    """The queries, keys and values of attention have one rank, though a kernel may use only some of the strides."""
    family = [name for name in tensors if is_attention(name)]
    full = max((rank for name in family for rank in usage.of(name).ranks), default=0)
    for name in family:
        if 2 <= ranks.of.get(name, 0) < full and not usage.of(name).ranks:
            ranks.of[name] = full


def _spread(ranks: Ranks, usage: Usage, tensors: list[str]) -> None:
    """Tensors of one shape have one rank."""
    known = set(tensors)
    pairs = [(one, other) for one, other, _ in usage.same_shape if one in known and other in known]
    for _ in pairs:
        for one, other in (*pairs, *((other, one) for one, other in pairs)):
            if one in ranks.of and one not in ranks.guessed and (other not in ranks.of or other in ranks.guessed):
                ranks.of[other] = ranks.of[one]
                ranks.guessed.discard(other)
