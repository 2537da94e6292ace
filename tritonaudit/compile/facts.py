"""What the compiler made of a kernel. Imports neither torch nor triton, so that rules may read it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tritonaudit.finding import Span


class AccessKind(Enum):
    """What an instruction does to global memory."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"
    ASYNC_COPY = "asynchronous copy"
    BULK_COPY = "bulk copy (TMA)"


@dataclass(frozen=True)
class LineAccess:
    """The accesses to global memory of one source line: how many instructions move how many bytes per lane.

    `widths` are pairs (bytes per lane and instruction, number of such instructions), widest first; a bulk copy, which
    has no width per lane, is (0, number).
    """

    path: str
    span: Span
    kind: AccessKind
    widths: tuple[tuple[int, int], ...]

    @property
    def narrowest(self) -> int:
        return self.widths[-1][0]


class Cause(Enum):
    """Why an access is narrower than it could be."""

    ALIGNMENT = "alignment"
    STRIDE = "stride"
    MASK = "mask"
    LANE_STRIDE = "stride between lanes"


@dataclass(frozen=True)
class Narrow:
    """An access that would be wider under one assumption, found by compiling with it.

    `argument` is the kernel's parameter that the assumption is about: its address (ALIGNMENT) or its value, of which
    the program knows too little, divisible by 16; for LANE_STRIDE, equal to 1. `bytes` per lane become `could_be`,
    which for LANE_STRIDE may be as many: then lanes move no more, but what lies together.
    """

    access: LineAccess
    bytes: int
    could_be: int
    cause: Cause
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class Resources:
    """What one program of a compiled kernel needs. Registers per thread; memory in bytes.

    `spill_stores` and `spill_loads` are bytes per thread as ptxas counts them, for AMD the registers spilt times 4.
    `occupancy` estimates the warps that a multiprocessor can hold, of `occupancy_of`. None: unknown.
    """

    registers: int | None
    spill_stores: int | None
    spill_loads: int | None
    stack: int | None
    local: int | None
    shared: int
    warps: int
    stages: int | None
    occupancy: int | None = None
    occupancy_of: int | None = None
    occupancy_limit: str = ""
    accumulators: int | None = None
    scalar_registers: int | None = None

    @property
    def spilled(self) -> int | None:
        """Bytes that a thread stores to spill registers and loads back."""
        if self.spill_stores is None or self.spill_loads is None:
            return None
        return self.spill_stores + self.spill_loads


@dataclass(frozen=True)
class CompileError:
    """What stopped the compiler, or what it warns of, in one sentence; at the user's expression where it is known.

    `is_certain` says of an inferred launch that whatever else was assumed, any launch fails so.
    """

    message: str
    path: str = ""
    span: Span | None = None
    is_certain: bool = False


@dataclass(frozen=True)
class Variant:
    """One specialisation of a kernel compiled for one target, with the cases and the config that led to it.

    Exactly one of `resources` and `error` is given. `dots` counts matrix products of the program by their operands'
    type (`fp16`), `matrix` names the matrix instructions that they became. Where it is not `explained`, `narrow` was
    not looked for. `is_least` says that nothing but the least sizes that tritonaudit tries leads to it. `constants` are
    the values of its constexpr parameters, as texts.
    """

    target: str
    config: str
    cases: tuple[str, ...]
    signature: tuple[tuple[str, str], ...]
    resources: Resources | None = None
    error: CompileError | None = None
    warnings: tuple[CompileError, ...] = ()
    accesses: tuple[LineAccess, ...] = ()
    narrow: tuple[Narrow, ...] = ()
    dots: tuple[tuple[str, int], ...] = ()
    matrix: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    shared_limit: int | None = None
    cached: bool = False
    explained: bool = True
    is_least: bool = False
    constants: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Sweep:
    """How often a kernel is specialised again while one size grows within one block: `sizes` led to `variants`.

    `argument` is the parameter to blame: a constexpr or a specialised number that changed with every size.
    """

    dimension: str
    sizes: tuple[int, ...]
    variants: int
    argument: str


@dataclass(frozen=True)
class CompiledKernel:
    """All that the compile stage learnt of one kernel. `span` is that of its name."""

    path: str
    name: str
    span: Span
    variants: tuple[Variant, ...]
    sweeps: tuple[Sweep, ...] = ()

    @property
    def compiled(self) -> tuple[Variant, ...]:
        return tuple(variant for variant in self.variants if variant.resources is not None)
