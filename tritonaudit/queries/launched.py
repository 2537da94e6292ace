"""What all launches of a kernel say of what they pass: how large it gets, of which type it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from tritonaudit.domains.affine import JOINED, Affine, Atom, Kind
from tritonaudit.host.arithmetic import TooLarge
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Dtype, Key, Tensor

_DEPTH = 6
_COUNT_OF_PROGRAMS = "tl.num_programs("


def most_of(sites: Sequence[LaunchSite], atom: Atom) -> int | None:
    """The largest number that an atom of the kernel may be in any launch; None where nothing keeps it below one."""
    found = [_most(site, atom, _DEPTH) for site in sites]
    return None if not found or None in found else max(most for most in found if most is not None)


def _most(site: LaunchSite, atom: Atom, depth: int) -> int | None:
    if atom.kind in (Kind.PARAM, Kind.CONSTEXPR):
        return _passed(site, site.argument(atom.name))
    if atom.kind is Kind.PID or atom.name.startswith(_COUNT_OF_PROGRAMS):
        number = atom.name[:-1].rpartition("(")[2]
        programs = _passed(site, site.axis(int(number))) if number.isdigit() else None
        return programs if programs is None or atom.kind is not Kind.PID else programs - 1
    if depth == 0:
        return None
    if atom.kind is Kind.LOOP or atom.kind is Kind.LANE:
        end = atom.stop if atom.kind is Kind.LOOP else atom.size
        return None if end is None else _of(site, end, depth - 1)
    parts = [_of(site, part, depth - 1) for part in atom.inner]
    known = [part for part in parts if part is not None]
    if atom.name == "minimum":
        return min(known, default=None)
    if atom.name == "Modulo" and len(parts) == 2:
        return min(known, default=None)
    if atom.name == "FloorDivide":
        return parts[0]
    return max(known) if atom.name in ("maximum", JOINED) and known and len(known) == len(parts) else None


def _of(site: LaunchSite, value: Affine, depth: int) -> int | None:
    total = 0
    for product, factor in value.terms.items():
        most = factor
        for atom in product if factor > 0 else ():
            one = _most(site, atom, depth)
            if one is None:
                return None
            most *= one
        total += max(most, 0)
    return total


def _passed(site: LaunchSite, value: Affine | None) -> int | None:
    if value is None:
        return None
    facts = site.facts()
    configs = [site.chosen(config) for config in site.configs] or [{}]
    try:
        found = [facts.bounds(facts.normal(site.arithmetic.put_in(value, put.get)))[1] for put in configs]
    except TooLarge:
        return None
    return None if None in found else max(most for most in found if most is not None)


def element_type(sites: Sequence[LaunchSite], parameter: str) -> str | None:
    """Torch's name of the elements of what every launch passes for the pointer."""
    passed = [site.arguments.get(parameter) for site in sites]
    dtypes = {one.dtype.name if isinstance(one, Tensor) and isinstance(one.dtype, Dtype) else None for one in passed}
    return dtypes.pop() if len(dtypes) == 1 else None


def elements_counted(sites: Sequence[LaunchSite], parameter: str) -> Iterator[int | None]:
    """For each launch that passes the number of a tensor's elements, how many dimensions the tensor has."""
    for site in sites:
        value = site.argument(parameter)
        terms = {} if value is None else value.terms
        keys = [_key(site, atom) for product in terms for atom in product] if len(terms) == 1 else []
        if len(keys) == 1 and keys[0][-3:-2] == ("numel",):
            yield site.ranks.get(keys[0][:-3])
        elif len(keys) > 1 and all(key[-2:-1] == ("shape",) for key in keys):
            yield len(keys) if len({key[:-2] for key in keys}) == 1 else None


def _key(site: LaunchSite, atom: Atom) -> Key:
    key = site.arithmetic.keys.get(atom)
    return key if isinstance(key, tuple) else ()


def argument_node(site: LaunchSite, parameter: str) -> ast.expr | None:
    """What the call of the launch has for a parameter of the kernel."""
    named = next((keyword.value for keyword in site.call.keywords if keyword.arg == parameter), None)
    if named is not None:
        return named
    given = zip((one.name for one in site.kernel.parameters), site.call.args, strict=False)
    return next((node for name, node in given if name == parameter and not isinstance(node, ast.Starred)), None)
