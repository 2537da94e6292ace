"""Sizes to try a launch at: around the numbers that its tiles divide them by, and usual ones."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product

from tritonaudit.domains.affine import GIVEN, Affine, Atom
from tritonaudit.host.host import LaunchSite

Put = Mapping[Atom, Affine]
"""What stands for symbols."""

_SIZES = (1025, 1000, 129, 100, 33, 17, 7, 3, 2, 1, 4097, 65, 257)
_MOST_CONFIGS = 48
_LARGEST = 1 << 20
_FOR_EACH = {1: 40, 2: 24, 3: 8}
_FOR_MORE = 5


def inputs_of(values: Iterable[Affine]) -> set[Atom]:
    """What the values are computed from in the end."""
    return {atom for value in values for atom in value.atoms_inside() if not atom.inner}


def without_strides(atoms: set[Atom]) -> set[Atom]:
    """Those that are no strides of what comes in, which follow from its sizes."""
    return {atom for atom in atoms if ".stride(" not in atom.name}


def as_passed(site: LaunchSite, value: Affine) -> Affine:
    """A value of the kernel with what the launch passes in the place of parameters, as far as that is known."""
    return site.arithmetic.put_in(value, lambda atom: site.argument(atom.name) if atom.kind in GIVEN else None)


def entry_defaults(site: LaunchSite) -> dict[str, ast.expr]:
    """What callers of the entry get for a parameter that they leave out."""
    spec = site.entry.node.args
    names = [arg.arg for arg in (*spec.posonlyargs, *spec.args)]
    found = dict(zip(names[::-1], spec.defaults[::-1], strict=False))
    found |= {arg.arg: one for arg, one in zip(spec.kwonlyargs, spec.kw_defaults, strict=True) if one is not None}
    return found


def defaults_of(site: LaunchSite, atoms: Iterable[Atom]) -> dict[Atom, int]:
    """Numbers that the entry has a default for."""
    pairs = entry_defaults(site).items()
    numbers = {name: one.value for name, one in pairs if isinstance(one, ast.Constant) and type(one.value) is int}
    return {atom: numbers[atom.name] for atom in atoms if atom.name in numbers}


def chosen_configs(site: LaunchSite, values: Sequence[Affine]) -> list[Put]:
    """What the configs give for the constants that the values depend on; nothing, where none does."""
    atoms = {atom for value in values for atom in value.atoms_inside()}
    found: dict[tuple[tuple[int, Affine], ...], Put] = {}
    for config in site.configs:
        put = {atom: value for atom, value in site.chosen(config).items() if atom in atoms}
        found[tuple(sorted(((atom.id, value) for atom, value in put.items()), key=lambda pair: pair[0]))] = put
    return list(islice(found.values(), _MOST_CONFIGS)) or [{}]


def tried(
    atoms: Sequence[Atom], values: Sequence[Affine], put: Put, *, are_equal: bool = False
) -> Iterator[dict[Atom, int]]:
    """Numbers for the atoms: one more and one less than those that divide them first."""
    parts = (part for value in values for atom in value.atoms_inside() for part in atom.inner)
    numbers = {value.value for value in (*put.values(), *values, *parts)}
    sizes = sorted(number for number in numbers if number is not None and 1 < number < _LARGEST)
    near = [size + by for size in sizes for by in (1, -1)]
    if are_equal:
        for size in dict.fromkeys([*near, *_SIZES]):
            yield dict.fromkeys(atoms, size)
        return
    some = list(dict.fromkeys([*near, *_SIZES]))[: _FOR_EACH.get(len(atoms), _FOR_MORE)]
    for numbers_of in product(some, repeat=len(atoms)):
        yield dict(zip(atoms, numbers_of, strict=True))
