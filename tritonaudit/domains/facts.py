"""What flow learnt about one kernel, and the questions that rules ask of it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tritonaudit.domains.affine import Affine, Atom
from tritonaudit.domains.value import ExpTerm, Less, Padding, Step, Value, as_dtype, element_of
from tritonaudit.finding import Elsewhere, Place
from tritonaudit.source.outline import span_of

if TYPE_CHECKING:
    from libcst import CSTNode

    from tritonaudit.ir.mistakes import Mistake
    from tritonaudit.ir.model import Assign, Kernel
    from tritonaudit.kernel.launch import LaunchFacts
    from tritonaudit.source.outline import JitFunction, Module
    from tritonaudit.source.tree import FunctionTree
    from tritonaudit.target import Target


@dataclass(frozen=True)
class Guard:
    """An enclosing `if`: its condition as written, which arm, and whether Triton decides it when compiling.

    `test` is what is known of the whole condition, and `taken` whether it holds there: `arm` is of what a `not` denies.
    """

    condition: str
    arm: bool
    constexpr: bool
    affines: tuple[Affine, ...] = ()
    test: Value | None = field(default=None, compare=False)
    taken: bool = field(default=True, compare=False)


Path = tuple[Guard, ...]


def exclusive(left: Path, right: Path) -> bool:
    """Whether the two places are in different arms of one condition."""
    arms = {guard.condition: guard.arm for guard in left}
    return any(arms.get(guard.condition, guard.arm) != guard.arm for guard in right)


@dataclass(frozen=True, eq=False)
class Arange:
    """A `tl.arange`: where it begins and ends, and under which conditions it stands."""

    node: CSTNode
    start: Value
    end: Value
    path: Path


@dataclass(frozen=True, eq=False)
class Access:
    """A load, store or atomic: its pointer, mask (None: none given), where it stands, and what a store stores."""

    node: CSTNode
    kind: str
    pointer: Value
    address: CSTNode
    mask: Value | None
    path: Path
    loops: tuple[int, ...]
    checked: bool = False
    stored: Value | None = None

    @property
    def what(self) -> str:
        return {"load": "load", "store": "store"}.get(self.kind, "atomic")

    @property
    def comparisons(self) -> tuple[Less, ...]:
        """The conditions of its mask that compare indices; what else is in it may leave out lanes, too."""
        return tuple(one for one in (self.mask.mask if self.mask is not None else None) or () if isinstance(one, Less))


@dataclass(frozen=True, eq=False)
class Reduction:
    """A reduction along `axis` (None: all) of `operand`; for `dot` the contracted axis."""

    node: CSTNode
    operation: str
    operand: Value
    axis: int | None
    path: Path
    poisoned: tuple[Padding, ...] = ()


@dataclass(frozen=True, eq=False)
class Dot:
    """A matrix product, with its operands."""

    node: CSTNode
    left: Value
    right: Value
    path: Path


@dataclass(frozen=True, eq=False)
class Accumulation:
    """A variable that a loop adds to, with the dtype that it is kept in."""

    node: CSTNode
    name: str
    dtype: str
    added: Value


@dataclass(frozen=True, eq=False)
class Assigned:
    """A variable that gets a value: what Triton's front end knows of it, and what it means."""

    assign: Assign
    value: Value


@dataclass(frozen=True, eq=False)
class ShapeUse:
    """A value used where Triton needs a compile-time constant."""

    node: CSTNode
    value: Value
    where: str


@dataclass(frozen=True, eq=False)
class Product:
    """A product of two integers, as the text has it."""

    node: CSTNode
    value: Value
    operands: tuple[Value, Value]


@dataclass(frozen=True, eq=False)
class Hint:
    """What `multiple_of` or `max_contiguous` claims of a value: a number for each dimension, or one for them all."""

    node: CSTNode
    name: str
    value: Value
    claims: tuple[Affine | None, ...]


@dataclass(frozen=True, eq=False)
class BooleanUse:
    """`and`, `or`, `not` or a chained comparison, with the values it combines."""

    node: CSTNode
    operator: str
    operands: tuple[Value, ...]


@dataclass(eq=False)
class KernelFlow:
    """One jit function, analysed. Lists hold facts in the order in which the text gives them.

    `types` are those of parameters, as Triton writes them (`*fp16`, `i32`), where they were learnt from launches.
    `places` are where program ids and loaded values are first made.
    `for_vendor` says that the file is for a vendor's own Triton, whose compiler takes and refuses other things.
    `kernel` has its operations. `multiples` are pairs of a size and what the kernel asserts it to be a multiple of;
    `all_steps` has those of the helpers that it calls, too; `carried` has the counter of the loop by which a step
    carries a name, `skipped` what is above 0, of loaded numbers, wherever an `if` in a loop sets a name again; `whiles`
    are the `while` loops, by the ids that accesses know them by. `specialised` has it by the
    constants that launches give, as far as somebody asked.
    """

    module: Module
    function: JitFunction
    tree: FunctionTree
    launches: LaunchFacts
    target: Target
    is_helper: bool = False
    for_vendor: bool = False
    types: Mapping[str, str] = field(default_factory=dict)
    accesses: list[Access] = field(default_factory=list)
    reductions: list[Reduction] = field(default_factory=list)
    dots: list[Dot] = field(default_factory=list)
    accumulations: list[Accumulation] = field(default_factory=list)
    assigned: list[Assigned] = field(default_factory=list)
    shape_uses: list[ShapeUse] = field(default_factory=list)
    aranges: list[Arange] = field(default_factory=list)
    products: list[Product] = field(default_factory=list)
    hints: list[Hint] = field(default_factory=list)
    booleans: list[BooleanUse] = field(default_factory=list)
    exps: list[ExpTerm] = field(default_factory=list)
    overflows: list[tuple[ExpTerm, str, CSTNode]] = field(default_factory=list)
    approximate_quotients: list[tuple[CSTNode, ExpTerm]] = field(default_factory=list)
    guarded: set[int] = field(default_factory=set)
    narrow_sums: list[tuple[CSTNode, Value, str]] = field(default_factory=list)
    late_casts: list[tuple[CSTNode, Value]] = field(default_factory=list)
    indices: dict[Affine, str] = field(default_factory=dict)
    multiples: list[tuple[Affine, Affine]] = field(default_factory=list)
    places: dict[Atom, CSTNode] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)
    all_steps: list[Step] = field(default_factory=list)
    carried: dict[Step, Atom] = field(default_factory=dict)
    whiles: set[int] = field(default_factory=set)
    kernel: Kernel | None = None
    skipped: dict[Step, tuple[Affine, ...]] = field(default_factory=dict)
    mistakes: tuple[Mistake, ...] = ()
    dead_lines: frozenset[int] = frozenset()
    specialised: dict[Hashable, KernelFlow | None] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.function.name

    def place(self, node: ast.expr | ast.stmt | ast.arg) -> Place:
        """Where a node of the file stands, or one of another file that launches the kernel."""
        for module in {launch.module.path: launch.module for launch in self.launches.launches}.values():
            if module is not self.module and _is_of(module, node):
                return Elsewhere(module.path, span_of(node, module.lines))
        return span_of(node, self.module.lines)

    def way_from(self, call: ast.expr) -> tuple[tuple[CSTNode | Place, str], ...]:
        """How execution comes into the kernel by a launch, as a finding tells it."""
        return (self.place(call), "it is launched here"), (self.tree.function.name, f"into `{self.name}`")

    def element_of(self, parameter: str) -> str:
        """The dtype of what the pointer parameter points to: as learnt, else known by name only."""
        learnt = self.types.get(parameter, "")
        return as_dtype(learnt[1:].removeprefix("k")) or element_of(parameter)

    def scalar_type(self, parameter: str) -> str | None:
        """The dtype of a parameter that is a number, where it was learnt."""
        return as_dtype(self.types.get(parameter, ""))


def _is_of(module: Module, node: ast.AST) -> bool:
    """Whether it stands in this file, or is made of what does: `x.shape[1]` is, of `m, n = x.shape`."""
    nodes = module.nodes(module.tree)
    return any(nodes.hold(inner) for inner in ast.walk(node))
