"""What a wrapper's call makes: launches, with all that compiling or simulating them needs; neither torch nor triton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class KernelRef:
    """Where a kernel stands: the file (absolute), its name there, and the line of its `def`."""

    path: str
    name: str
    line: int


@dataclass(frozen=True)
class TensorArgument:
    """A tensor passed to a kernel: sizes and strides in elements, `offset` of its first element in the storage.

    `storage` numbers the storages of a call, so that views of one are known as such.
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    storage: int


@dataclass(frozen=True)
class SourceError:
    """What Triton's front end says against a kernel, or warns of: the user's file, its line and column (from 1).

    `is_certain` says of an inferred launch that whatever else was assumed, any launch fails so.
    """

    message: str
    path: str
    line: int
    column: int
    is_certain: bool = False


Options = tuple[tuple[str, Any], ...]
"""What the compiler is given for a program beside its TTIR, by names in order."""


@dataclass(frozen=True)
class Sibling:
    """A target on which a call launches what it does on another, and the options there for those of that other one."""

    target: str
    options: tuple[tuple[Options, Options], ...]


@dataclass(frozen=True)
class Program:
    """What the compiler is given for one specialisation of a kernel: its TTIR as text, and the backend's options.

    `ttir` holds the locations of the user's files. `options` are what `backend.parse_options` takes.
    """

    target: str
    ttir: str
    options: Options

    @property
    def contracts(self) -> bool:
        """Whether sums take in products without a rounding between."""
        return bool(dict(self.options).get("enable_fp_fusion", True))


@dataclass(frozen=True)
class Launch:
    """One launch of a kernel by a wrapper's call.

    `signature` gives each parameter's type as Triton writes it (`*fp32`, `i32`, `constexpr`), `arguments` what was
    passed (a `TensorArgument`, a number, a string, None, or the text of anything else), `specialisation` what Triton
    specialised beyond the types: `divisible` by 16, `one` (equal to 1); of a launch that Triton refuses all three are
    empty. `config` tells the autotuner's choice, empty where there is none; `subject` and `case` tell the call, which
    was no subject's where it was inferred, and `is_least` says that it is of the least sizes that are tried. Exactly
    one of `program` and `error` is given, or neither where only the specialisation was asked for.
    """

    kernel: KernelRef
    target: str
    case: str
    config: str
    grid: tuple[int, int, int] | None
    signature: tuple[tuple[str, str], ...]
    arguments: tuple[tuple[str, Any], ...]
    specialisation: tuple[tuple[str, str], ...]
    program: Program | None = None
    error: SourceError | None = None
    warnings: tuple[SourceError, ...] = ()
    assumed: tuple[str, ...] = ()
    subject: str = ""
    is_least: bool = False

    @property
    def is_inferred(self) -> bool:
        """Whether no call of a wrapper made it: its arguments were inferred, by the assumptions in `assumed`."""
        return bool(self.assumed)
