"""The process apart, as the one who judges sees it: it is asked to call the wrapper, and what it says is only data.

Nothing of the user's that is judged is ever loaded in this process. Imports torch.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NoReturn

from tritonaudit.capture.device import report_multiprocessors
from tritonaudit.capture.launch import KernelRef
from tritonaudit.capture.task import IMPORT_SECONDS
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.data import NotData, decode
from tritonaudit.execute.blame import Account, Recounted
from tritonaudit.execute.confine import borrow_compiled, confine
from tritonaudit.execute.descriptors import close_all_but
from tritonaudit.execute.processes import die_with_parent, end_alike
from tritonaudit.execute.worker import be_last
from tritonaudit.simulator.live import NoProgram
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.simulator.numerics.unsupported import Unsupported
from tritonaudit.subject.apart import Absent, Inseparable, forget_parts, judging_subject
from tritonaudit.subject.asking import changing_as_its_model
from tritonaudit.subject.inputs import Arguments, make_inputs
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites import harness
from tritonaudit.suites.apart.messages import (
    Answer,
    Broken,
    CallsAnswer,
    Failure,
    Given,
    OneCall,
    Outgrown,
    Question,
    Ready,
    Said,
    TookTooLong,
    Unready,
    Unsendable,
    Word,
    pickled,
)
from tritonaudit.suites.apart.nursery import Nursery
from tritonaudit.suites.apart.sending import Opened, Parcel, receive, send
from tritonaudit.suites.calling import Called, Device, How, Meanwhile, Result, nothing_meanwhile
from tritonaudit.suites.calls import Call, Calls
from tritonaudit.suites.late import Patience, current_patience, longest
from tritonaudit.suites.provenance import Computed


class Apart:
    """A process in which the subject of that name of a file is called; it ends with this one, or by `close`.

    One that says what is no answer is ended, NotData is raised, and the next question is asked of another one. Host
    code there sees so many `multiprocessors`; None for those of the GPU in whose place the device is.
    """

    def __init__(
        self, device: Device, path: Path, name: str, multiprocessors: int | None = None, *, streams: bool = False
    ) -> None:
        self._device = device
        self._streams = streams
        self._path, self._name, self._multiprocessors = path, name, multiprocessors
        self._process: int | None = None
        self.absent = Absent(self._begin(), self)

    def _begin(self) -> KernelRef:
        """Have one that knows the subject; where the wrapper stands."""
        faulthandler.cancel_dump_traceback_later()  # a fork has its lock and not its thread, and would wait for ever
        waits = None if self._streams else _one_that_waits()
        self._connection, self._process = waits or _begun(self._device, streams=self._streams)
        if waits is None and not _is_up(self._connection):
            self._die_alike()
        try:
            send(self._connection, pickle.dumps((self._path, self._name, self._multiprocessors)))
        except OSError:
            self._die_alike()
        with self._believed():
            word, _ = self._word()
            if isinstance(word, Unready):
                raise Recounted(word.account)
            if not isinstance(word, Ready):
                raise NotData("an answer before any question")
        return word.wrapper

    @contextmanager
    def _believed(self) -> Iterator[None]:
        """End it where what it says is no answer: nobody knows what else is on the way."""
        try:
            yield
        except NotData:
            self.close()
            raise

    def close(self) -> None:
        """End it."""
        process, self._process = self._process, None
        self._connection.close()
        if process is not None:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(process, 0)

    def another(self, multiprocessors: int) -> Apart:
        """One in which host code sees so many."""
        return Apart(self._device, self._path, self._name, multiprocessors, streams=self._streams)

    def called(
        self,
        subject: Subject,
        case: Case,
        how: How,
        arguments: Arguments | None = None,
        meanwhile: Meanwhile = nothing_meanwhile,
    ) -> Called:
        """What calling the wrapper on the arguments, or else on the inputs of a case, comes to.

        Raises Unsendable for arguments that cannot be passed on, which are nobody's but the caller's to make.
        """
        given: Arguments = ((), {})
        if arguments is not None:
            given = arguments
        elif how.has_memory:
            with self._device.observing(How(is_checked=False)):
                given = make_inputs(subject, case)
        with self._believed():
            sent = (given,) if how.has_memory else ()
            word, opened = self._asked(subject, case, how, sent, meanwhile, is_remade=arguments is None)
            if not isinstance(word, Answer):
                raise NotData("an answer other than the one asked for")
            with opened:
                results = tuple(_result(one, opened) for one in word.results)
                changed = tuple(_result(one, opened) for one in word.changed)
        error = _error(word.error)
        reported = self._multiprocessors, word.asks_multiprocessors, word.operators
        return Called(given, results, changed, word.ran, error, *reported)

    def calls(
        self,
        subject: Subject,
        case: Case,
        values: Sequence[Arguments],
        draw: int,
        meanwhile: Meanwhile = nothing_meanwhile,
    ) -> Calls:
        """What the calls of integrity come to, with these sets of values, of which something was drawn."""
        with self._believed():
            word, opened = self._asked(subject, case, How(), values, meanwhile, draw)
            if not isinstance(word, CallsAnswer) or not word.calls:
                raise NotData("an answer other than the one asked for")
            with opened:
                return Calls(tuple(_call(one, opened) for one in word.calls), word.replaced)

    def _asked(
        self,
        subject: Subject,
        case: Case,
        how: How,
        inputs: Sequence[Arguments],
        meanwhile: Meanwhile,
        draw: int | None = None,
        *,
        is_remade: bool = True,
    ) -> tuple[Word, Opened]:
        if self._process is None:
            self._begin()
        parcel = Parcel()
        try:
            sent = tuple(pickled(one, parcel) for one in inputs)
        except Unsendable:  # it makes them itself
            if not is_remade:
                raise
            sent, parcel = (), Parcel()
        patience = current_patience()
        left = patience.rest()
        seconds = left.seconds, left.waiting, longest(left.seconds) - 1
        question = Question(case, how, subject.gradients, tuple(subject.mutates), *seconds, draw, sent)
        try:
            word, opened, late = self._answered(question, parcel, patience, partial(meanwhile, *inputs))
        except BaseException:  # it may still answer, and nobody would know to what
            self.close()
            raise
        if isinstance(word, Outgrown):
            self._outgrow()
            return self._asked(subject, case, how, inputs, nothing_meanwhile, draw, is_remade=is_remade)
        if isinstance(word, Broken):
            raise Recounted(word.account)
        if isinstance(word, TookTooLong):
            raise patience.late(waits=word.waits, computes=word.computes, in_host=word.in_host, account=word.account)
        if late and not _tells(word) and self._device.lost is None:
            with opened:
                raise late
        return word, opened

    def _answered(
        self, question: Question, parcel: Parcel, patience: Patience, meanwhile: Callable[[], None]
    ) -> tuple[Word, Opened, OutOfTime | None]:
        """Its answer to a question, and where there was no time for all that was to be done meanwhile, that."""
        try:
            send(self._connection, pickle.dumps(question), parcel.file())
        except OSError:
            self._die_alike()
        late: OutOfTime | None = None
        try:
            with patience.beside():
                meanwhile()
        except OutOfTime as error:  # of which the other one, who is still at it, knows nothing
            late = error
        with nullcontext() if late else patience.elsewhere():
            return *self._word(), late

    def _outgrow(self) -> None:
        """Have one on whose GPU streams do not wait for each other, from now on."""
        if self._streams:
            raise NotData("an answer that only one with fewer streams can give")
        self.close()
        self._streams = True

    def _word(self) -> tuple[Word, Opened]:
        try:
            received = receive(self._connection)
        except OSError:
            received = None
        if received is None:
            self._die_alike()
        message, file = received
        try:
            said: Said = decode(Said, message)
        except BaseException:
            if file is not None:
                os.close(file)
            raise
        self._device.lost = said.lost or self._device.lost
        return said.word, Opened(file)

    def _die_alike(self) -> NoReturn:
        """End as it has ended: whoever watches this process knows what to make of that."""
        assert self._process is not None
        _, status = os.waitpid(self._process, 0)
        end_alike(os.waitstatus_to_exitcode(status))


@contextmanager
def judged_apart(device: Device, path: Path, name: str) -> Iterator[Subject]:
    """The subject of that name, whose wrapper is in a process of its own as long as this lasts. Raises Recounted.

    Where what judges it cannot be separated from it, the whole file is loaded here, too, and there is a doubt.
    """
    apart = Apart(device, path, name)
    try:
        with time_limit(IMPORT_SECONDS):
            subject = changing_as_its_model(_judging(path, name, apart.absent))
            assert subject.given is None or subject.given.tensors  # it is found before any time counts
        yield subject
    finally:
        apart.close()


@contextmanager
def with_multiprocessors(subject: Subject, multiprocessors: int) -> Iterator[Subject]:
    """A subject that is judged apart, in a process of its own again whose host code sees so many."""
    function = subject.function
    assert isinstance(function, Absent)
    apart = function.caller.another(multiprocessors)
    apart.absent.doubt = function.doubt
    try:
        yield replace(subject, function=apart.absent)
    finally:
        apart.close()


def _judging(path: Path, name: str, absent: Absent) -> Subject:
    from tritonaudit.capture.task import loaded

    try:
        return judging_subject(path, name, absent)
    except Inseparable as error:
        absent.doubt = str(error)
        be_last()
        return replace(loaded(path)[name], function=absent)


def _tells(word: Word) -> bool:
    """Whether an answer says what is wrong with a call, whatever a reference gives."""
    if isinstance(word, Answer):
        return word.error is not None
    return isinstance(word, CallsAnswer) and any(one.error is not None or one.strange for one in word.calls)


_Begun = tuple[socket.socket, int]
"""A process apart that knows of no subject yet, by what it is spoken to through, and its number."""
_UP = b"up"

_nursery: Nursery | None = None
_waiting: _Begun | None = None


def prepare_apart() -> None:
    """Be able to have processes apart after this one has used the GPU, as it has not yet."""
    global _nursery
    _nursery = Nursery.of(_become_apart, _know_triton)


@contextmanager
def one_beforehand() -> Iterator[None]:
    """Meanwhile have a process apart bring up the GPU, for the first subject: that takes it a second or more, too."""
    global _waiting
    begun = _begun()
    yield
    if _is_up(begun[0]):
        _waiting = begun
    else:  # whoever needs one sees what is wrong
        begun[0].close()
        os.waitpid(begun[1], 0)


def _one_that_waits() -> _Begun | None:
    """The one that was begun beforehand, and is up: once."""
    global _waiting
    found, _waiting = _waiting, None
    return found


def _begun(device: Device | None = None, *, streams: bool = False) -> _Begun:
    """A new one, on the GPU, with streams or without, or on an engine that is here."""
    ours, theirs = socket.socketpair()
    with theirs:
        if _nursery is not None and (device is None or not device.is_engine):
            return ours, _nursery.forked(theirs, None, streams)
        if not (process := os.fork()):
            _become_apart(theirs, device)
        return ours, process


def _is_up(connection: socket.socket) -> bool:
    """Whether it has come so far that it can be given its subject."""
    try:
        return receive(connection) is not None
    except OSError:
        return False


def _become_apart(connection: socket.socket, device: Device | None = None, streams: bool = False) -> NoReturn:
    """What the child does, to its end; without a device it uses the GPU, whose descriptors are its own."""
    try:
        from tritonaudit.execute import worker
        from tritonaudit.suites.apart.serving import serve

        die_with_parent(signal.SIGKILL)
        worker.forget_serving()
        close_all_but({0, 1, 2, connection.fileno()})
        uses_gpu = device is None or not device.is_engine
        device = device or _own_gpu(streams=streams)
        confine(uses_gpu=uses_gpu)
        _leave_no_name()
        forget_parts()
        send(connection, _UP)
        if (asked := receive(connection)) is not None:
            path, name, multiprocessors = pickle.loads(asked[0])
            report_multiprocessors(multiprocessors)
            serve(connection, device, path, name, IMPORT_SECONDS)
    except SystemExit as error:
        os._exit(error.code if isinstance(error.code, int) else 1)
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def _know_triton() -> None:
    """Have Triton's own files read, of which it makes a part of each key of its cache, by what is forked from here."""
    for name in ("triton.runtime.cache", "triton.compiler.compiler"):
        if (key := getattr(sys.modules.get(name), "triton_key", None)) is not None:
            key()


def _own_gpu(*, streams: bool) -> Device:
    from triton.runtime import driver

    from tritonaudit.suites.on_gpu import Gpu

    gpu = Gpu(streams=streams)
    driver.active.get_current_target()  # it compiles a part of Triton's own, once, where the user's code finds it
    harness.remember()
    borrow_compiled()
    return gpu


def _leave_no_name() -> None:
    """What asks how this process was called, and with which variables, does not learn of an audit."""
    sys.argv[:] = [""]
    for name in [name for name in os.environ if name.startswith("TRITONAUDIT_")]:
        del os.environ[name]


def _result(given: Given, opened: Opened) -> Result:
    unwritten = None if given.unwritten is None else opened.tensor(given.unwritten)
    return Result(given.name, opened.tensor(given.tensor), given.storage, unwritten)


def _call(one: OneCall, opened: Opened) -> Call:
    error = _error(one.error)
    return Call(
        one.way,
        one.values,
        one.inputs,
        tuple(_result(result, opened) for result in one.results),
        tuple(map(opened.tensor, one.kept)),
        one.ran,
        error,
        error if one.is_fallback else None,
        one.strange,
        list(one.started),
        one.threads,
        one.shares,
        tuple(Computed(made.operator, opened.tensor(made.result), made.moved) for made in one.computed),
        one.written,
        one.arithmetic,
        one.unaccounted,
        one.altered,
        one.undefined,
        one.on_their_way,
    )


def _error(reported: Account | Failure | None) -> BaseException | None:
    if isinstance(reported, Account):
        return Recounted(reported)
    if reported is None:
        return None
    if reported.launch is not None:
        return NoProgram(reported.launch)
    return NotSimulated(Unsupported(reported.text), reported.location)
