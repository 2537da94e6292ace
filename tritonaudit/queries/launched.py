"""What all launches of a kernel say of what they pass: how large it gets, of which type it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import islice, takewhile

from tritonaudit.domains.affine import JOINED, Affine, Atom, AtomKind
from tritonaudit.host.arithmetic import REMAINDER, TooLarge
from tritonaudit.host.host import Host, LaunchSite
from tritonaudit.host.values import Dtype, Key, Tensor
from tritonaudit.queries.sizes import Put, chosen_configs, entry_defaults, inputs_of, tried

_DEPTH = 6
_TILE, _MOST_REPLAYED, _MOST_UNKNOWNS = 64, 6, 3
_STRIDES = (("stride",), ("contiguous().stride",))
_COUNT_OF_PROGRAMS = "tl.num_programs("


def most_of(sites: Sequence[LaunchSite], atom: Atom) -> int | None:
    """The largest number that an atom of the kernel may be in any launch; None where nothing keeps it below one."""
    found = [_most(site, atom, _DEPTH) for site in sites]
    return None if not found or None in found else max(most for most in found if most is not None)


def _most(site: LaunchSite, atom: Atom, depth: int) -> int | None:
    if atom.kind in (AtomKind.PARAM, AtomKind.CONSTEXPR):
        return _passed(site, site.argument(atom.name))
    if atom.kind is AtomKind.PID or atom.name.startswith(_COUNT_OF_PROGRAMS):
        number = atom.name[:-1].rpartition("(")[2]
        programs = _passed(site, site.axis(int(number))) if number.isdigit() else None
        return programs if programs is None or atom.kind is not AtomKind.PID else programs - 1
    if depth == 0:
        return None
    if atom.kind is AtomKind.LOOP or atom.kind is AtomKind.LANE:
        end = atom.stop if atom.kind is AtomKind.LOOP else atom.size
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


def may_exceed_one(host: Host, site: LaunchSite, value: Affine | None) -> bool:
    """Whether some sizes of inputs, at which the host code launches, make a number of the launch more than 1."""
    if value is None or any(keyword.arg == "prune_configs_by" for keyword in _tuning(site)):
        return False
    facts = site.facts()
    for put in chosen_configs(site, [value]):
        number = facts.normal(_with_tiles(site, value, put))
        least, most = facts.bounds(number)
        atoms = sorted(inputs_of([number]), key=lambda atom: atom.id)
        if least is not None and least > 1:
            return True
        if (most is not None and most <= 1) or any(not _is_free(site, atom) for atom in atoms):
            continue
        for sizes in islice(tried(atoms, [number], put, are_equal=len(atoms) > _MOST_UNKNOWNS), _MOST_REPLAYED):
            known = {atom: Affine.constant(size) for atom, size in sizes.items()}
            found = site.arithmetic.put_in(number, known.get).value
            if found is not None and found > 1:
                launched = host.replay(site, {atom.name: size for atom, size in sizes.items()})
                if isinstance(launched, LaunchSite):
                    return True
    return False


def _with_tiles(site: LaunchSite, value: Affine, put: Put) -> Affine:
    """With what the configs give, or a usual tile for what they do not show, in the place of what a tuner chooses."""
    keys = {atom: site.key(atom) for atom in value.atoms_inside()}
    unread = {atom: Affine.constant(_TILE) for atom, key in keys.items() if key[:1] == ("config",)}
    return site.arithmetic.put_in(value, {**unread, **put}.get)


def _is_free(site: LaunchSite, atom: Atom) -> bool:
    """Whether callers give it, and no default says what it is for those who do not."""
    return atom.kind is AtomKind.PARAM and atom.name not in entry_defaults(site)


def _tuning(site: LaunchSite) -> Iterator[ast.keyword]:
    for decorator in site.kernel.decorators:
        yield from decorator.keywords if isinstance(decorator, ast.Call) else ()


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
        keys = [site.key(atom) for product in terms for atom in product] if len(terms) == 1 else []
        if len(keys) == 1 and keys[0][-3:-2] == ("numel",):
            yield site.ranks.get(keys[0][:-3])
        elif len(keys) > 1 and all(key[-2:-1] == ("shape",) for key in keys):
            yield len(keys) if len({key[:-2] for key in keys}) == 1 else None


def argument_node(site: LaunchSite, parameter: str) -> ast.expr | None:
    """What the call of the launch has for a parameter of the kernel."""
    named = next((keyword.value for keyword in site.call.keywords if keyword.arg == parameter), None)
    if named is not None:
        return named
    placed = takewhile(lambda node: not isinstance(node, ast.Starred), site.call.args)  # behind a star nobody counts
    return next(
        (node for one, node in zip(site.kernel.parameters, placed, strict=False) if one.name == parameter), None
    )


def is_only_launched(site: LaunchSite, parameter: str) -> bool:
    """Whether the host code hands the tensor to this launch, and to nothing else that may write to it."""
    passed = argument_node(site, parameter)
    if not isinstance(passed, ast.Name):
        return False
    nodes = site.module.nodes(site.made.calls[-1].node)
    harmless = {id(node) for node in site.module.nodes(site.call).of(ast.Name)}
    harmless |= {id(node.value) for node in nodes.of(ast.Attribute) if not node.attr.endswith("_")}
    for returned in nodes.of(ast.Return):
        values = returned.value.elts if isinstance(returned.value, ast.Tuple) else [returned.value]
        harmless |= {id(value) for value in values}
    harmless |= {id(value) for call in nodes.of(ast.Call) if _only_reads(call.func) for value in call.args}
    used = [node for node in nodes.of(ast.Name) if node.id == passed.id]
    return all(isinstance(node.ctx, ast.Store) or id(node) in harmless for node in used)


def _only_reads(called: ast.expr) -> bool:
    """`torch.sum` and `ctx.save_for_backward`; no function of the project, nor `torch.relu_`."""
    if not isinstance(called, ast.Attribute) or not isinstance(called.value, ast.Name):
        return False
    is_torch = called.value.id == "torch" and not called.attr.endswith("_")
    return is_torch or called.attr in ("save_for_backward", "mark_non_differentiable")


def as_passed(site: LaunchSite, value: Affine) -> Affine | None:
    """A polynomial of the kernel's parameters with what the launch passes for them; None where that is not known."""
    total = Affine.constant(0)
    for product, factor in value.terms.items():
        passed = [
            site.argument(atom.name) if atom.kind in (AtomKind.PARAM, AtomKind.CONSTEXPR) else None for atom in product
        ]
        term = _product(site, [Affine.constant(factor), *passed])
        if term is None:
            return None
        total = total + term
    return total


def numbers_of(sites: Sequence[LaunchSite], parameter: str) -> set[int | None]:
    """The numbers that launches and configs give for a parameter; None among them for what is no number."""
    found: set[int | None] = set()
    for site in sites:
        value = site.argument(parameter)
        for put in [site.chosen(config) for config in site.configs] or [{}]:
            found.add(None if value is None else site.arithmetic.put_in(value, put.get).value)
    return found


def are_alike(sites: Sequence[LaunchSite], one: str, other: str) -> bool:
    """Whether every launch passes the same for both parameters."""
    passed = [(site.argument(one), site.argument(other)) for site in sites]
    return bool(passed) and all(left is not None and left == right for left, right in passed)


def asks_for_remainders(sites: Sequence[LaunchSite]) -> bool:
    """Whether a launch is made only where a remainder is, or is not, some number."""
    tests = (condition.test.polynomial for site in sites for condition in site.conditions)
    return any(atom.name == REMAINDER for test in tests if test is not None for atom in test.atoms_inside())


def is_row_stride(site: LaunchSite, value: Affine | None) -> bool:
    """Whether it is the stride of a dimension that is certainly not the tensor's last one."""
    if value is None:
        return False
    key = () if value.atom is None else site.key(value.atom)
    if key[-2:-1] in _STRIDES:
        place, last = key[-1], (_rank(site, key[:-2]) or _last_place(site, key) + 1) - 1
        return isinstance(place, int) and (place < -1 or 0 <= place < last)
    dense = [one.shape for one in site.arguments.values() if isinstance(one, Tensor) and one.is_contiguous]
    sizes = [[site.integer(size) for size in shape] for shape in dense if isinstance(shape, tuple)]
    return any(value == _product(site, shape[place:]) for shape in sizes for place in range(1, len(shape)))


def _rank(site: LaunchSite, tensor: Key) -> int | None:
    """How many dimensions a tensor has, by its key: one that comes in, or one that the launch passes."""
    passed = (one for one in site.arguments.values() if isinstance(one, Tensor) and one.symbol.key == tensor)
    shapes = (one.shape for one in passed)
    return next((len(shape) for shape in shapes if isinstance(shape, tuple)), site.ranks.get(tensor))


def _product(site: LaunchSite, sizes: Sequence[Affine | None]) -> Affine | None:
    total = Affine.constant(1)
    for size in sizes:
        if size is None:
            return None
        total = site.arithmetic.times(total, size)
    return total


def is_last_stride(site: LaunchSite, value: Affine | None) -> bool:
    """Whether it is the stride of a tensor's last dimension, or of the last one whose stride the launch passes."""
    key = () if value is None or value.atom is None else site.key(value.atom)
    if key[-2:-1] not in _STRIDES:
        return value is not None and value.value == 1
    rank = _rank(site, key[:-2])
    if key[-1] == -1 or rank is not None:
        return key[-1] in (-1, None if rank is None else rank - 1)
    return isinstance(key[-1], int) and key[-1] == _last_place(site, key) > 0


def _last_place(site: LaunchSite, key: Key) -> int:
    """The last dimension of a tensor whose stride the launch passes; -1 where it passes none."""
    values = (site.argument(name) for name in site.arguments)
    keys = [site.key(value.atom) for value in values if value is not None and value.atom is not None]
    return max((one[-1] for one in keys if one[:-1] == key[:-1] and isinstance(one[-1], int)), default=-1)


def set_before(site: LaunchSite, node: ast.expr) -> ast.expr | None:
    """What a name of the function that launches is set to last before the launch."""
    function, call = site.made.calls[-1].node, site.call
    assigned = site.module.nodes(function).of(ast.Assign) if isinstance(node, ast.Name) else []
    named = (one for one in assigned if ast.unparse(one.targets[0]) == ast.unparse(node))
    before = [one for one in named if one.lineno <= call.lineno]
    return max(before, key=lambda one: one.lineno).value if before else None
