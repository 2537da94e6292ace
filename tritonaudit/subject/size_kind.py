"""What a dimension counts, by its name, and thus which sizes are usual for it. Imports neither torch nor triton."""

from __future__ import annotations

import re
from enum import Enum

from tritonaudit.subject.model import Subject


class SizeKind(Enum):
    """What a dimension counts, with its usual size and the least that every kernel should take."""

    LARGE = (1024, 1)
    """Rows, columns, positions, features: anything that grows."""
    BATCH = (4, 1)
    COUNT = (8, 1)
    """Heads, experts, groups: there are few."""
    HEAD_DIM = (64, 16)
    """One block holds all of it, for a matrix product, which needs 16."""

    def __init__(self, usual: int, least: int) -> None:
        self.usual = usual
        self.least = least


_BY_NAME = tuple(
    (re.compile(names, re.IGNORECASE), kind)
    for names, kind in (
        (r"b|bs|bsz|batch(es)?(_?size)?|.*_batch(_size)?", SizeKind.BATCH),
        (r"(n|num|nb)?_?(q|k|v|kv|query|key|value)?_?heads?(_num)?(_?[qkv]+)?|h|n?h[qkv]*|nh", SizeKind.COUNT),
        (r"(n|num)?_?(experts|groups|seqs|sequences)|e|world_size|n(um)?_ranks", SizeKind.COUNT),
        (r"((d|dim)_?heads?|heads?_?(dim|size))(_\w+)?|dh|d_?(k|v|qk)|hdim|d_head_\w+", SizeKind.HEAD_DIM),
    )
)


def size_names(subject: Subject) -> tuple[str, ...]:
    """The names of the sizes that a subject's cases give."""
    asked = (name for name in subject.input_keywords if name in ("size", "batch"))
    return tuple(dict.fromkeys((*subject.dimensions, *asked)))


def size_kind(subject: Subject, name: str) -> SizeKind:
    """What a dimension of the subject counts, by its name, since the field calls few things by these."""
    is_row = any(len(tensor.dims) > 1 and tensor.dims[-1] == name for tensor in subject.tensors)
    return SizeKind.LARGE if is_row and len(name) == 1 else kind_by_name(name)  # H is then the hidden size


def usual_size(name: str) -> int:
    """What a dimension of this name is first tried with."""
    return kind_by_name(name).usual


def takes_dtype(subject: Subject) -> bool:
    """Whether the case's dtype matters: what a function of the case does with it cannot be seen from outside."""
    if not callable(subject.inputs):
        return any(tensor.dtype is None for tensor in subject.tensors)
    return not subject.input_keywords or "dtype" in subject.input_keywords


def kind_by_name(name: str) -> SizeKind:
    """What a dimension of this name counts."""
    return next((kind for names, kind in _BY_NAME if names.fullmatch(name)), SizeKind.LARGE)
