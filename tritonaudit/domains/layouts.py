"""Values laid out along other axes, with what is known of their lanes."""

from __future__ import annotations

from dataclasses import replace

from tritonaudit.domains.affine import ONE, Affine, Atoms
from tritonaudit.domains.value import ALL_AXES, ANYTHING, UNKNOWN, Less, Opaque, Value


def expand(atoms: Atoms, value: Value, added: list[bool]) -> Value:
    """`value[:, None]` and the like: `added` says of each new dimension whether it is one of size 1."""
    kept = added.count(False)
    shape = value.shape if value.shape is not None else (None,) * kept
    if len(shape) != kept:
        if not (value.shape == () or len(shape) < kept):
            return UNKNOWN
        mask = None if value.mask is None else ANYTHING
        return value.but(shape=None, affine=None, paddings=(), murky=ALL_AXES, mask=mask)
    rank = len(added)
    dims: list[Affine | None] = []
    axes: dict[int, int] = {}
    source = 0
    for position, new in enumerate(added):
        if new:
            dims.append(ONE)
        else:
            dims.append(shape[source])
            axes[source - kept] = position - rank
            source += 1
    return move_axes(atoms, value, tuple(dims), axes)


def move_axes(atoms: Atoms, value: Value, shape: tuple[Affine | None, ...] | None, axes: dict[int, int]) -> Value:
    """`value` laid out along other axes."""
    return value.but(
        shape=shape,
        affine=None if value.affine is None else atoms.moved(value.affine, axes),
        mask=None if value.mask is None else frozenset(_moved(atoms, c, axes) for c in value.mask),
        murky=frozenset(axes.get(axis, axis) for axis in value.murky),
        paddings=tuple(
            replace(p, condition=Less(atoms.moved(p.condition.gap, axes), p.condition.strict)) for p in value.paddings
        ),
    )


def _moved(atoms: Atoms, condition: Less | Opaque, axes: dict[int, int]) -> Less | Opaque:
    if isinstance(condition, Less):
        return Less(atoms.moved(condition.gap, axes), condition.strict)
    return Opaque(frozenset(axes.get(axis, axis) for axis in condition.over))
