"""What a trace holds: the launches of a command as data, enough to execute each again. Neither torch nor triton."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tritonaudit.capture.launch import KernelRef, Launch

VERSION = 1


@dataclass(frozen=True)
class Header:
    """What made the trace: the command and its folder, the target that stood in for a GPU, and the versions that ran.

    `exit_code` is that of the command, None where nobody has waited for it.
    """

    version: int
    command: tuple[str, ...]
    folder: str
    target: str
    python: str
    torch: str
    triton: str
    exit_code: int | None = None


@dataclass(frozen=True)
class Source:
    """The text of a file that the places of programs are in, as a blob."""

    path: str
    text: str


@dataclass(frozen=True)
class Blob:
    """Bytes that follow the record, by the SHA-256 of them."""

    digest: str
    size: int


@dataclass(frozen=True)
class Storage:
    """The memory of tensors, as it was before the launch: `contents` is a blob of all of its bytes.

    Where `is_sampled` it holds pieces from all over the memory in their place. `undefined` is a blob that tells the
    bytes that nobody had written, empty where all were. Of a memory that is larger than any there is, nothing is kept:
    what is known of integers in it are their `bounds`, from the one to below the other.
    """

    size: int
    contents: str
    is_sampled: bool = False
    undefined: str = ""
    bounds: tuple[int, int] | None = None


@dataclass(frozen=True)
class View:
    """A tensor on the storage of that number, in elements."""

    storage: int
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


@dataclass(frozen=True)
class Passed:
    """What the program gets for a parameter: a tensor, into which it points `offset` bytes further, or a number."""

    name: str
    value: View | bool | int | float
    offset: int = 0


@dataclass(frozen=True)
class Line:
    """A line of the user's that was on its way to the launch."""

    path: str
    line: int
    function: str


@dataclass(frozen=True)
class Recorded:
    """The first launch of its kind, by its `number` in its process.

    Its program's text is the blob `ttir`, empty where Triton rejects the kernel. `inner` is the innermost line of the
    user's that launches it, then those that call this one; `test` the test that was running. What was not launched, but
    would have been in place of the launch of the number `instead_of`, has another config of the autotuner's; or where
    it `is_grown`, tensors of more elements than an int32 counts.
    """

    number: int
    launch: Launch
    ttir: str
    passed: tuple[Passed, ...]
    storages: tuple[Storage, ...]
    stack: tuple[Line, ...]
    test: str = ""
    instead_of: int | None = None
    is_grown: bool = False


@dataclass(frozen=True)
class Made:
    """A launch that was made: of the kind that was `recorded` under that number, if any was, in so many seconds.

    `failure` says why it was not executed, `is_error` that a GPU would not have taken it either.
    """

    kernel: KernelRef
    recorded: int | None
    seconds: float
    failure: str = ""
    is_error: bool = False


@dataclass(frozen=True)
class Unavailable:
    """What the command asked for beside launches that no CPU can do, and the test that did."""

    what: str
    test: str = ""


@dataclass(frozen=True)
class Unrecorded:
    """Launches of a kernel whose kind was not recorded, and why."""

    kernel: KernelRef
    reason: str


Record = Header | Source | Blob | Recorded | Made | Unavailable | Unrecorded
ANY_RECORD: Any = Record
