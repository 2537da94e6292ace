"""What the process that judges asks of the one in which the wrapper is called, and what that one answers.

Questions are pickles, for the one who judges is trusted. Answers are data: whatever runs there may have written them.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from tritonaudit.capture.launch import KernelRef, Launch
from tritonaudit.execute.blame import Account
from tritonaudit.simulator.ir import Location
from tritonaudit.subject.inputs import Arguments
from tritonaudit.subject.model import Case
from tritonaudit.suites.apart.sending import Laid, Opened, Parcel
from tritonaudit.suites.arithmetic import Spent
from tritonaudit.suites.calling import How, Lost, Ran
from tritonaudit.suites.calls import Input, Share
from tritonaudit.suites.harness import Replaced
from tritonaudit.suites.provenance import Unaccounted


@dataclass(frozen=True)
class Question:
    """What is to be called: how, for so many seconds, and a traceback is written after `last` seconds.

    `inputs` are the arguments of a call, or sets of values for the calls of integrity, of which something is drawn by
    `draw`; without any the case gives them.
    """

    case: Case
    how: How
    gradients: bool
    mutates: tuple[int | str, ...]
    seconds: float
    waiting: float
    last: float
    draw: int | None = None
    inputs: tuple[bytes, ...] = ()


@dataclass(frozen=True)
class Ready:
    """The subject is there, and its wrapper stands in this place."""

    wrapper: KernelRef


@dataclass(frozen=True)
class Unready:
    """The subject cannot be had."""

    account: Account


@dataclass(frozen=True)
class Failure:
    """A launch that could not be executed: by the engine, at this place, or at all."""

    text: str
    location: Location | None = None
    launch: Launch | None = None


@dataclass(frozen=True)
class Given:
    """A result: its bytes, the address of its storage, and what of it nobody has written."""

    name: str
    tensor: Laid
    storage: int
    unwritten: Laid | None = None


@dataclass(frozen=True)
class Answer:
    """What a call came to."""

    results: tuple[Given, ...] = ()
    changed: tuple[Given, ...] = ()
    ran: tuple[Ran, ...] = ()
    error: Account | Failure | None = None
    asks_multiprocessors: bool = False
    operators: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Made:
    """What an operator of torch made in a call, or only moved there."""

    operator: str
    result: Laid
    moved: bool


@dataclass(frozen=True)
class OneCall:
    """What one of the calls of integrity came to."""

    way: str
    values: int
    inputs: tuple[Input, ...]
    results: tuple[Given, ...]
    kept: tuple[Laid, ...]
    ran: tuple[Ran, ...]
    error: Account | Failure | None
    is_fallback: bool
    strange: tuple[str, ...]
    started: tuple[str, ...]
    threads: tuple[str, ...]
    shares: tuple[Share, ...]
    computed: tuple[Made, ...]
    written: frozenset[int]
    arithmetic: Spent
    unaccounted: tuple[Unaccounted, ...]
    altered: int
    undefined: int
    on_their_way: tuple[str, ...] | None


@dataclass(frozen=True)
class CallsAnswer:
    """What all of them came to."""

    calls: tuple[OneCall, ...]
    replaced: tuple[Replaced, ...]


@dataclass(frozen=True)
class TookTooLong:
    """It did not end in time: where it was then, and whether in host code for most of it."""

    waits: bool
    computes: bool
    in_host: bool
    account: Account


@dataclass(frozen=True)
class Broken:
    """What the subject has set up has ended the work on a question."""

    account: Account


@dataclass(frozen=True)
class Outgrown:
    """What was called needs more of a GPU than this process has; nothing that it came to counts."""


Word = Ready | Unready | Answer | CallsAnswer | TookTooLong | Broken | Outgrown


@dataclass(frozen=True)
class Said:
    """A word, and what has made the GPU unusable in the process that says it."""

    word: Word
    lost: Lost | None = None


class Unsendable(Exception):
    """Arguments that cannot be passed to another process."""


def pickled(arguments: Arguments, parcel: Parcel) -> bytes:
    """The arguments, whose tensors go into the parcel. Raises Unsendable."""
    buffer = io.BytesIO()
    try:
        _Pickler(buffer, parcel).dump(arguments)
    except Exception as error:  # whatever an argument's own way to be pickled raises
        raise Unsendable(str(error)) from error
    return buffer.getvalue()


def unpickled(inputs: Sequence[bytes], opened: Opened) -> list[Arguments]:
    """The sets of arguments."""
    return [_Unpickler(io.BytesIO(one), opened).load() for one in inputs]


class _Pickler(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, parcel: Parcel) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self._parcel = parcel

    def persistent_id(self, value: Any) -> Laid | None:
        if type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided:
            return self._parcel.lay(value)
        return None


class _Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, opened: Opened) -> None:
        super().__init__(buffer)
        self._opened = opened

    def persistent_load(self, laid: Any) -> torch.Tensor:
        return self._opened.tensor(laid)
