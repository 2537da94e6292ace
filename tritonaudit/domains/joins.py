"""Two values where control meets: only what holds of both is kept."""

from __future__ import annotations

from tritonaudit.domains.affine import JOINED, ZERO, Affine, Atom, Atoms
from tritonaudit.domains.padding import met
from tritonaudit.domains.value import (
    ALL_AXES,
    ANYTHING,
    INTEGERS,
    NONE,
    UNKNOWN,
    ExpTerm,
    Mask,
    Opaque,
    Shape,
    Step,
    Value,
)


def same(left: Value, right: Value) -> bool:
    """Whether the two say the same, as far as flow can tell them apart."""
    return (
        left.affine == right.affine
        and left.shape == right.shape
        and left.dtype == right.dtype
        and left.const == right.const
        and left.paddings == right.paddings
        and left.murky == right.murky
        and left.mask == right.mask
        and left.upper == right.upper
        and left.lower == right.lower
        and left.raw == right.raw
        and left.exps == right.exps
        and left.block == right.block
        and left.parts is right.parts
        and left.wide == right.wide
    )


def join(atoms: Atoms, left: Value, right: Value) -> Value:
    """What holds whichever of the two it is."""
    if left is right:
        return left
    if left.const is NONE or right.const is NONE:
        return right if left.const is NONE else left  # an optional value is used only where it is set
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    return _joined(atoms, left, right, ("either", left.affine, right.affine))


def widened(atoms: Atoms, before: Value, after: Value, key: object) -> Value:
    """What holds of a name in every iteration; bounds that the loop moved are given up."""
    if before is UNKNOWN or after is UNKNOWN:
        return UNKNOWN
    value = _joined(atoms, before, after, ("carried", key), "carried")
    if before.upper != after.upper:
        value.upper = None
    if before.lower != after.lower:
        value.lower = None
    return value


def includes(wide: Value, one: Value, moves_on: Atom | None = None) -> bool:
    """Whether all that is said of `wide` holds of `one`, which is what it is a round of the loop `moves_on` later."""
    if wide is UNKNOWN:
        return True
    if one is UNKNOWN:
        return False
    paddings, murky = met(wide, one)
    return (
        _includes_affine(wide.affine, one.affine, moves_on)
        and (wide.upper is None or (one.upper is not None and one.upper <= wide.upper))
        and (wide.lower is None or (one.lower is not None and one.lower >= wide.lower))
        and (wide.const is None or wide.const == one.const)
        and (not wide.constexpr or one.constexpr)
        and (one.wide <= wide.wide and wide.raw <= one.raw and wide.difference <= one.difference)
        and (wide.dtype is None or wide.dtype == one.dtype)
        and (wide.shape is None or _shape(wide.shape, one.shape) == wide.shape)
        and (wide.mask is None or _mask(wide, one) == wide.mask)
        and set(paddings) == set(wide.paddings)
        and murky <= wide.murky
        and (wide.block is None or wide.block == one.block)
        and (wide.origin is None or wide.origin is one.origin)
        and (wide.source is None or wide.source == one.source)
        and all(_nodes(getattr(one, name)) <= _nodes(getattr(wide, name)) for name in _TERMS)
        and _includes_parts(wide, one)
    )


_TERMS = ("exps", "sums", "one_plus", "inverse", "tainted")


def _nodes(terms: tuple[ExpTerm, ...]) -> set[int]:
    return {id(term.node) for term in terms}


def _includes_affine(wide: Affine | None, one: Affine | None, moves_on: Atom | None) -> bool:
    if wide is None:
        return True
    if one is None:
        return False
    if wide.atom is not None and wide.atom.name == JOINED:
        return True
    step = ZERO if moves_on is None else wide.factor_of(moves_on)
    return one == wide + step


def _includes_parts(wide: Value, one: Value) -> bool:
    if wide.parts is None or wide.parts is one.parts:
        return True
    if one.parts is None or len(one.parts) != len(wide.parts):
        return False
    return all(map(includes, wide.parts, one.parts))


def given_up(value: Value) -> Value:
    """Of a variable that no number of rounds settles: its type, and what harm it may carry."""
    return Value(
        shape=value.shape,
        dtype=value.dtype,
        murky=ALL_AXES,
        exps=value.exps,
        sums=value.sums,
        tainted=value.tainted,
        wide=True,
    )


def _joined(atoms: Atoms, left: Value, right: Value, key: object, operation: str = "either") -> Value:
    shape = _shape(left.shape, right.shape)
    dtype = left.dtype if left.dtype == right.dtype else _weak(left.dtype, right.dtype)
    paddings, murky = met(left, right)
    parts = None
    if left.parts is not None and right.parts is not None and len(left.parts) == len(right.parts):
        parts = tuple(join(atoms, a, b) for a, b in zip(left.parts, right.parts, strict=False))
    return Value(
        shape=shape,
        dtype=dtype,
        affine=_affine(atoms, left, right, shape, key),
        const=left.const if left.const == right.const and type(left.const) is type(right.const) else None,
        constexpr=left.constexpr and right.constexpr,
        upper=None if left.upper is None or right.upper is None else max(left.upper, right.upper),
        lower=None if left.lower is None or right.lower is None else min(left.lower, right.lower),
        mask=_mask(left, right),
        paddings=paddings,
        murky=murky,
        parts=parts,
        block=left.block if left.block == right.block else None,
        raw=left.raw and right.raw,
        origin=left.origin if left.origin is right.origin else None,
        source=left.source if left.source == right.source else None,
        exps=union(left.exps, right.exps),
        sums=union(left.sums, right.sums),
        one_plus=union(left.one_plus, right.one_plus),
        inverse=union(left.inverse, right.inverse),
        tainted=union(left.tainted, right.tainted),
        narrowed=left.narrowed or right.narrowed,
        difference=left.difference and right.difference,
        made=left.made if left.made is right.made else Step(operation, (left, right)),
        wide=left.wide or right.wide,
    )


def _weak(left: str | None, right: str | None) -> str | None:
    """A Python number takes the dtype of the tensor it meets."""
    if left in ("int", "float") and right is not None:
        return right
    return left if right in ("int", "float") else None


def _shape(left: Shape | None, right: Shape | None) -> Shape | None:
    if left is None or right is None or len(left) != len(right):
        return None
    return tuple(a if a == b else None for a, b in zip(left, right, strict=False))


def _affine(atoms: Atoms, left: Value, right: Value, shape: Shape | None, key: object) -> Affine | None:
    if left.affine is None or right.affine is None:
        return None
    if left.affine == right.affine:
        return left.affine
    if left.dtype not in INTEGERS and left.dtype is not None:
        return None
    axes = left.affine.axes() | right.affine.axes()
    return atoms.opaque(JOINED, key, (left.affine, right.affine), axes)


def _mask(left: Value, right: Value) -> Mask | None:
    if left.mask == right.mask:
        return left.mask
    if left.mask is None or right.mask is None:
        return ANYTHING
    over: frozenset[int] = frozenset().union(*(c.axes() for c in left.mask | right.mask))
    return (left.mask & right.mask) | {Opaque(over)}


def union(left: tuple[ExpTerm, ...], right: tuple[ExpTerm, ...]) -> tuple[ExpTerm, ...]:
    """Both, each term once."""
    return left if left == right or not right else (*left, *(term for term in right if term not in left))
