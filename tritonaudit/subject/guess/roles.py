"""What a kernel does with each of its parameters, as far as it tells what a caller must pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tritonaudit.domains.affine import GIVEN, LOADED, ZERO, Affine, Atom, AtomKind
from tritonaudit.domains.analysis import analyse
from tritonaudit.domains.facts import Access, KernelFlow
from tritonaudit.domains.value import Less, Value
from tritonaudit.kernel.project import Function, Project
from tritonaudit.target import DEFAULT, Target

GRID = "the grid's axis "


@dataclass
class Role:
    """What a kernel does with a pointer parameter.

    `is_always` says that it is accessed under no condition, `is_one` that it points to a single element, `is_index`
    that what is loaded becomes part of an index; `dtype` is an integer type that what the kernel does needs. `selects`
    are the pointers whose addresses have the loaded index, with the parameter that it is multiplied by (empty: none;
    None: it only bounds lanes). `extents` tell how far the accesses go: for each stride parameter (empty: none, so
    that lanes are neighbours) the parameters that bound what is multiplied by it, or `GRID` and the axis for a program
    id.
    """

    is_written: bool = False
    is_index: bool = False
    is_one: bool = True
    is_always: bool = False
    dtype: str | None = None
    selects: dict[str, str | None] = field(default_factory=dict)
    extents: dict[str, set[str]] = field(default_factory=dict)


class KernelRoles:
    """The roles of the pointers of kernels, each kernel analysed once."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._files: dict[str, dict[str, dict[str, Role]]] = {}

    def of(self, kernel: Function) -> dict[str, Role]:
        """The kernel's pointer parameters; none where its code is beyond the analysis."""
        path = kernel.module.path
        if path not in self._files:
            target = Target.parse(DEFAULT)
            flows = [flow for flow in analyse(kernel.module, self._project, target) if isinstance(flow, KernelFlow)]
            self._files[path] = {flow.name: _roles(flow) for flow in flows}
            self._project.forget(kernel.module)
        return self._files[path].get(kernel.jit.name, {})


def _roles(flow: KernelFlow) -> dict[str, Role]:
    roles: dict[str, Role] = {}
    for access in flow.accesses:
        pointer = _pointer(access)
        if pointer is None:
            continue
        role = roles.setdefault(pointer, Role())
        role.is_written |= access.what != "load"
        role.is_one &= _is_bare(access)
        role.is_always |= not access.path
        _note_extents(role, access)
        for selector, factor in _selectors(access):
            index = roles.setdefault(selector, Role())
            index.is_index = True
            if pointer != selector:
                index.selects[pointer] = index.selects.get(pointer) or factor
    for pointer, dtype in _integers(flow):
        if pointer in roles:
            roles[pointer].dtype = dtype
    return roles


def _integers(flow: KernelFlow) -> Iterator[tuple[str, str]]:
    """Pointers that must point to integers: what is loaded is shifted, or its products are added up as int32."""
    for step in flow.all_steps:
        if step.operation == "RightShift":
            dtype = "uint8" if step.operands[1].const == 4 else "int32"
            yield from ((pointer, dtype) for pointer in _loaded(step.operands[0]))
    for total in flow.accumulations:
        product = total.added.made
        if total.dtype == "i32" and product is not None and product.operation == "dot":
            yield from ((pointer, "int8") for operand in product.operands[:2] for pointer in _loaded(operand))


def _loaded(value: Value, depth: int = 8) -> Iterator[str]:
    """The pointers whose data a value is computed from by arithmetic."""
    if value.source is not None:
        yield value.source
    elif value.made is not None and depth and value.made.operation in _ARITHMETIC:
        for operand in value.made.operands:
            yield from _loaded(operand, depth - 1)


_ARITHMETIC = frozenset(
    ("Add", "Subtract", "Multiply", "Divide", "FloorDivide", "Modulo", "LeftShift", "RightShift", "BitAnd", "BitOr",
     "BitXor", "either")
)  # fmt: skip


def _pointer(access: Access) -> str | None:
    if access.pointer.block is not None:
        return access.pointer.block.parameter
    return access.pointer.origin.name if access.pointer.origin is not None else None


def _selectors(access: Access) -> Iterator[tuple[str, str | None]]:
    """The pointers from which parts of the address were loaded, or only bounds of its lanes (None)."""
    affine = access.pointer.affine
    if affine is not None:
        for product in affine.terms:
            for atom in product:
                if (source := _source(atom)) is not None:
                    yield source, next((a.name for a in product if a.kind in GIVEN), "")
        for atom in affine.atoms_inside():
            yield from ((source, None) for source in _loop_bounds(atom))
            if (source := _source(atom)) is not None:
                yield source, None
    if access.pointer.block is not None:
        for part in (*access.pointer.block.shape, *access.pointer.block.offsets):
            yield from ((source, None) for source in _sources(part))
    mask = access.mask.mask if access.mask is not None and access.mask.mask is not None else ()
    for condition in mask:
        if isinstance(condition, Less) and any(a.kind in (AtomKind.LANE, AtomKind.LOOP) for a in condition.gap.atoms()):
            yield from ((source, None) for source in _sources(condition.gap))


def _sources(affine: Affine | None) -> set[str]:
    """The pointers that an integer was computed from the data of."""
    atoms = set() if affine is None else affine.atoms_inside()
    return {source for atom in atoms if (source := _source(atom)) is not None}


def _source(atom: Atom) -> str | None:
    """The pointer that the atom was loaded from."""
    if atom.name != LOADED or not atom.inner:
        return None
    found = [a.name for product, factor in atom.inner[0].terms.items() if factor == 1 and len(product) == 1
             for a in product if a.kind is AtomKind.PARAM]  # fmt: skip
    return found[0] if found else None


def _loop_bounds(atom: Atom) -> set[str]:
    return _sources(atom.start) | _sources(atom.stop) if atom.kind is AtomKind.LOOP else set()


def _is_bare(access: Access) -> bool:
    """Whether an access is at the pointer itself."""
    affine, origin = access.pointer.affine, access.pointer.origin
    return affine is not None and origin is not None and affine == Affine.of(origin)


def _note_extents(role: Role, access: Access) -> None:
    """Learn from `tl.load(p + row * stride + cols, mask=cols < n)` that `p` has `n` neighbours in a row."""
    affine, origin = access.pointer.affine, access.pointer.origin
    if affine is None or origin is None or access.pointer.block is not None:
        return
    mask = access.mask.mask if access.mask is not None and access.mask.mask is not None else ()
    gaps = [condition.gap for condition in mask if isinstance(condition, Less)]
    indices = _indices(affine, origin)
    if len(indices) > 1 and not indices.get("", ZERO).lanes():
        indices.pop("", None)  # a start within the tensor, not an axis
    for stride, index in indices.items():
        found = {name for gap in gaps if (name := _parameter(gap + index)) is not None}
        role.extents.setdefault(stride, set()).update(found | _limits(index))


def _indices(affine: Affine, origin: Atom) -> dict[str, Affine]:
    """An address as its indices by the parameter that each is multiplied by."""
    found: dict[str, Affine] = {}
    for product, factor in affine.terms.items():
        if product == (origin,):
            continue
        strides = [atom for atom in product if atom.kind is AtomKind.PARAM and atom is not origin]
        rest = tuple(atom for atom in product if atom not in strides)
        name = strides[0].name if strides else ""
        found[name] = found.get(name, ZERO) + Affine({rest: factor})
    return found


def _limits(index: Affine) -> set[str]:
    """What an index by itself stays below: the grid for a program id, `n` for `i % n`."""
    if len(index.terms) != 1:
        return set()
    ((product, factor),) = index.terms.items()
    if factor != 1 or len(product) != 1:
        return set()
    (atom,) = product
    if atom.kind is AtomKind.PID:
        return {f"{GRID}{atom.name[-2]}"}  # tl.program_id(0)
    name = _parameter(atom.inner[1]) if atom.name == "Modulo" and len(atom.inner) == 2 else None
    return set() if name is None else {name}


def _parameter(bound: Affine) -> str | None:
    """The parameter that an expression is, no more and no less."""
    if len(bound.terms) != 1:
        return None
    ((product, factor),) = bound.terms.items()
    is_parameter = len(product) == 1 and factor == 1 and product[0].kind in GIVEN
    return product[0].name if is_parameter else None
