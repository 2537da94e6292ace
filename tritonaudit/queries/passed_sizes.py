"""What launches pass for a parameter, as far as it is a size or a stride of a tensor, or such a size rounded up."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tritonaudit.domains.affine import ZERO, Affine, Atom
from tritonaudit.domains.facts import KernelFlow
from tritonaudit.host.arithmetic import LEAST, MOST, POWER_OF_2, ROUNDED_UP
from tritonaudit.host.host import LaunchSite
from tritonaudit.host.values import Key
from tritonaudit.kernel.launch import Origin, Size
from tritonaudit.queries.launched import argument_node

_DEPTH = 4  # functions of sizes within each other
_COUNTS = frozenset(("shape", "stride", "contiguous().stride"))


def sizes_passed(flow: KernelFlow, parameter: str) -> Iterator[Size]:
    """What each launch passes for the parameter, where that is the size of a tensor."""
    for site in flow.launches.sites:
        value, node = site.argument(parameter), argument_node(site, parameter)
        origin = None if value is None or value.atom is None else _origin(site, value.atom, _DEPTH)
        if value is not None and node is not None and origin is not None:
            yield Size(origin, None, node, str(value))


def rounded_beside(flow: KernelFlow, parameter: str) -> Size | None:
    """What a launch passes for the parameter, where it rounds the same up for another: then it may be any size."""
    for site in flow.launches.sites:
        value, node = site.argument(parameter), argument_node(site, parameter)
        others = [site.argument(name) for name in site.arguments if name != parameter]
        inside = (atom for other in others if other is not None for atom in other.atoms_inside())
        rounded = {atom.inner[0] for atom in inside if atom.name == POWER_OF_2}
        if value is not None and value.value is None and node is not None and value in rounded:
            return Size(Origin.UNKNOWN, None, node, ast.unparse(node))
    return None


def may_be_one(flow: KernelFlow, parameter: str) -> bool:
    """Whether a launch passes a stride or a size of a tensor, or a product of these, that may be 1."""
    return any(_may_be_one(site, site.argument(parameter)) for site in flow.launches.sites)


def _may_be_one(site: LaunchSite, value: Affine | None) -> bool:
    if value is None or len(value.terms) != 1:
        return False
    ((product, factor),) = value.terms.items()
    if factor != 1 or not all(_counts(site.key(atom)) for atom in product):
        return False
    least = site.facts().bounds(site.facts().normal(value))[0]
    return least is None or least <= 1


def _counts(key: Key) -> bool:
    """Whether it is a size or a stride of a tensor, or how many elements it has."""
    return key[-2:-1] != () and (key[-2] in _COUNTS or key[-3:-2] == ("numel",) or key[-1] == "len")


def _origin(site: LaunchSite, atom: Atom, depth: int) -> Origin | None:
    """Whether it certainly is no last size, which is a head or hidden size more often than a count."""
    if atom.inner and not depth:
        return None
    if atom.name == ROUNDED_UP:
        return Origin.SIZE if _origins(site, atom.inner[:1], depth) else None
    if atom.name == LEAST or (atom.name == MOST and all(part.value is None for part in atom.inner)):
        found = _origins(site, atom.inner, depth)
        return next((origin for origin in (Origin.LAST_SIZE, Origin.SIZE) if origin in found), None)
    key = site.key(atom)
    if key[-2:-1] != ("shape",):
        return Origin.SIZE if key[-3:-2] == ("numel",) or key[-1:] == ("len",) else None
    rank = site.ranks.get(key[:-2])
    last = key[-1] == -1 if rank is None else key[-1] in (-1, rank - 1)
    return Origin.LAST_SIZE if last or (rank is None and key[-1] not in (0, -2, -3, -4)) else Origin.SIZE


def _origins(site: LaunchSite, parts: tuple[Affine, ...], depth: int) -> list[Origin]:
    """The origins of those parts that are sizes of a tensor, each times a number."""
    atoms = [(part - Affine.constant(part.terms.get((), 0))).atom for part in parts if part != ZERO]
    return [origin for atom in atoms if atom is not None and (origin := _origin(site, atom, depth - 1)) is not None]
