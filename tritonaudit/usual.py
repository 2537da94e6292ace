"""Typical values of what kernels are given, by the names that the field uses."""

from __future__ import annotations

import re

SIZE = 1024
"""A size of which nothing else is known: a multiple of 16, and a power of two."""

ELEMENTS = 1 << 14
"""How many elements a tensor of unknown shape has."""

_MULTIPROCESSORS = 132  # of an H100 SXM, as PyTorch reports it
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_HEAD_DIMENSION = frozenset(("d", "dk", "dv", "dq", "dh", "hd", "headdim", "dhead", "hdim", "dmodel", "dim", "k", "v"))
_HEADS = frozenset(("h", "hq", "hv", "hk", "hkv", "heads", "nheads", "nhead", "head"))
_BATCH = frozenset(("b", "bs", "bsz", "batch", "z"))
_SMALL = {
    "rank": 2, "ndim": 2, "axis": 0, "split": 2, "splits": 2, "nsplit": 2, "bits": 4, "nbits": 4, "group": 8,
    "groups": 8, "topk": 4, "experts": 8, "expert": 8, "stages": 2, "warps": 4, "iters": 4, "iter": 4, "channels": 64,
    "channel": 64, "version": 1, "unroll": 2, "vec": 4, "stage": 3, "seed": 7, "width": 4, "kernel": 3,
    "blocks": 8,
}  # fmt: skip
_FLOATS = frozenset((
    "eps", "epsilon", "scale", "alpha", "beta", "gamma", "temperature", "temp", "dropout", "momentum", "softcap",
    "cap", "scaling", "slope", "prob", "probability", "lr", "decay", "rate", "coef", "coeff", "factor", "smoothing",
    "p", "threshold", "theta", "sm", "limit", "std", "mean", "lambda", "damping", "negative", "inf", "sigma", "delta",
))  # fmt: skip
_NOT_FLOAT = frozenset(("stride", "ptr", "size", "num", "block", "n", "dim", "index", "idx", "dtype", "has", "use"))


def words_of(name: str) -> tuple[str, ...]:
    """`stride_xBlock` has the words stride, x and block."""
    return tuple(word.lower() for word in _WORDS.findall(name))


def number(name: str) -> int:
    """A whole number that goes by this name: a size, a count, a stride."""
    words = words_of(name)
    if "stride" in words or "strides" in words:
        return SIZE
    if "sms" in words or "multiprocessor" in words or {"sm", "count"} <= set(words) or {"num", "sm"} <= set(words):
        return _MULTIPROCESSORS
    joined = "".join(words)
    if joined in _HEAD_DIMENSION or {"head", "dim"} <= set(words) or {"head", "size"} <= set(words):
        return 64
    for word in reversed(words):
        if word in _SMALL:
            return _SMALL[word]
    if joined in _BATCH or "batch" in words:
        return 4
    if joined in _HEADS or "heads" in words:
        return 8
    return SIZE


def is_float(name: str) -> bool:
    """Whether what goes by this name is a real number."""
    words = frozenset(words_of(name))
    return not words.isdisjoint(_FLOATS) and words.isdisjoint(_NOT_FLOAT)


def is_flag(name: str) -> bool:
    """Whether what goes by this name is a truth value."""
    words = words_of(name)
    return bool(words) and (
        words[0] in ("is", "has", "use", "need", "needs", "store", "save", "with", "return", "do", "enable", "apply")
        or words[-1] in ("causal", "flag", "only", "enabled", "divisible")
        or words[0] in ("even", "causal", "divisible", "allow")
    )


def is_index(name: str) -> bool:
    """Whether a tensor of this name holds indices."""
    words = frozenset(words_of(name))
    return not words.isdisjoint(("index", "indices", "idx", "ids", "id", "indptr", "seqlens", "seqlen", "offsets"))
