"""The process in which a subject's wrapper is called: it loads the user's code, and answers what is asked of it.

Nothing that is judged by is here: neither the reference's results nor a verdict. Imports torch.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from tritonaudit.capture.device import has_asked
from tritonaudit.capture.time_limit import OutOfTime, time_limit
from tritonaudit.data import encode
from tritonaudit.execute.blame import Account, account_of
from tritonaudit.execute.processes import die_with_parent, end_alike
from tritonaudit.simulator.live import NoProgram
from tritonaudit.simulator.machine import NotSimulated
from tritonaudit.subject.inputs import Arguments
from tritonaudit.subject.model import Case, Subject
from tritonaudit.suites import harness
from tritonaudit.suites.apart.messages import (
    Answer,
    Broken,
    CallsAnswer,
    Failure,
    Given,
    Made,
    OneCall,
    Outgrown,
    Question,
    Ready,
    Said,
    TookTooLong,
    Unready,
    Word,
    unpickled,
)
from tritonaudit.suites.apart.sending import Opened, Parcel, receive, send
from tritonaudit.suites.calling import Called, Device, Ran, Result, called_here
from tritonaudit.suites.calls import Call, Calls, calls_here, values_of
from tritonaudit.suites.late import Late, patience

_ANSWERED = b"."
"""What a fork says to the one that it has answered for."""


def serve(connection: socket.socket, device: Device, path: Path, name: str, seconds: float) -> None:
    """Load the subject of that name within the seconds, and answer questions until there are no more."""
    faulthandler.enable(all_threads=False)
    faulthandler.register(signal.SIGXCPU, all_threads=False, chain=True)
    harness.forget_replaced()
    subject = _loaded(connection, path, name, seconds)
    harness.repair()
    while subject is not None and (received := receive(connection)) is not None:
        message, file = received
        question: Question = pickle.loads(message)
        with Opened(file) as opened:
            inputs = unpickled(question.inputs, opened)
        asked = _as_asked(subject, question)
        if question.how.has_memory:
            _answer_one(connection, device, asked, question, inputs)
        else:
            _have_answered(partial(_answer_one, connection, device, asked, question, inputs))


def _answer_one(
    connection: socket.socket, device: Device, subject: Subject, question: Question, inputs: Sequence[Arguments]
) -> None:
    parcel = Parcel()
    word = None if device.is_outgrown else _answered(device, subject, question, inputs, parcel)
    if word is None or device.is_outgrown:
        _say(connection, encode(Said(Outgrown())))
        return
    lost = device.lost
    _say(connection, encode(Said(word, lost)), None if lost is not None else parcel.file())


def _have_answered(answer: Callable[[], None]) -> None:
    """Answer in a fork: what host code keeps of tensors without memory shall not meet the calls that come after."""
    reading, writing = os.pipe()
    if child := os.fork():
        os.close(writing)
        _, status = os.waitpid(child, 0)
        os.set_blocking(reading, False)
        with open(reading, "rb") as pipe:
            if pipe.read(1) != _ANSWERED:
                end_alike(os.waitstatus_to_exitcode(status))
        return
    die_with_parent(signal.SIGKILL)
    answer()
    os.write(writing, _ANSWERED)
    os._exit(0)


def _loaded(connection: socket.socket, path: Path, name: str, seconds: float) -> Subject | None:
    from tritonaudit.capture.task import loaded
    from tritonaudit.suites.wrapper import wrapper_ref

    subject: Subject | None = None
    word: Word
    try:
        with time_limit(seconds):
            subject = loaded(path)[name]
            word = Ready(wrapper_ref(subject))
    except BaseException as error:
        word = Unready(account_of(error))
    _say(connection, encode(Said(word)))
    return subject


def _say(connection: socket.socket, message: bytes, file: int | None = None) -> None:
    """Send it; where the user's code has closed what it goes through, die as one that writes to a closed pipe."""
    try:
        send(connection, message, file)
    except OSError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)


def _as_asked(subject: Subject, question: Question) -> Subject:
    asked = replace(subject, gradients=question.gradients, mutates=question.mutates)
    if not question.how.has_memory:  # it makes the inputs itself, by what is given, which is found once
        vars(asked)["given"] = subject.given
    return asked


def _answered(
    device: Device, subject: Subject, question: Question, inputs: Sequence[Arguments], parcel: Parcel
) -> Word:
    faulthandler.dump_traceback_later(question.last)
    try:
        with patience(question.seconds, question.waiting):
            if question.draw is not None:
                values = inputs or values_of(device, subject, question.case, question.draw)
                return _calls(device, subject, question.case, values, parcel)
            arguments = inputs[0] if inputs else None
            called = called_here(device, subject, question.case, question.how, arguments)
            harness.repair_others()  # ours are looked at around the calls that integrity is judged by
            return _answer(called, parcel)
    except Late as error:
        return TookTooLong(error.waits, error.computes, error.in_host, account_of(error))
    except OutOfTime as error:
        return TookTooLong(False, False, False, account_of(error))
    except Exception as error:  # the user's own are part of an answer
        return Broken(account_of(error))
    except BaseException as error:
        if not device.is_outgrown:
            raise
        return Broken(account_of(error))
    finally:
        faulthandler.cancel_dump_traceback_later()


def _calls(device: Device, subject: Subject, case: Case, values: Sequence[Arguments], parcel: Parcel) -> CallsAnswer:
    made: Calls = calls_here(device, subject, case, values)
    return CallsAnswer(tuple(_one(call, parcel) for call in made.calls), made.replaced)


def _one(call: Call, parcel: Parcel) -> OneCall:
    return OneCall(
        call.way,
        call.values,
        call.inputs,
        tuple(_given(result, parcel) for result in call.results),
        tuple(map(parcel.lay, call.kept)),
        tuple(map(_plain, call.ran)),
        _reported(call.error),
        call.fallback is not None,
        call.strange,
        tuple(call.started),
        call.threads,
        call.shares,
        tuple(Made(one.operator, parcel.lay(one.result), one.moved) for one in call.computed),
        call.written,
        call.arithmetic,
        call.unaccounted,
        call.altered,
        call.undefined,
        call.on_their_way,
    )


def _answer(called: Called, parcel: Parcel) -> Answer:
    return Answer(
        tuple(_given(result, parcel) for result in called.results),
        tuple(_given(result, parcel) for result in called.changed),
        tuple(map(_plain, called.ran)),
        _reported(called.error),
        has_asked(),
        called.operators,
    )


def _given(result: Result, parcel: Parcel) -> Given:
    unwritten = None if result.unwritten is None else parcel.lay(result.unwritten)
    return Given(result.name, parcel.lay(_plain_tensor(result.tensor)), result.storage, unwritten)


def _plain_tensor(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor of another layout, or of quantized numbers, with all of its elements as they are meant."""
    if tensor.is_quantized:
        return tensor.dequantize()
    return tensor if tensor.layout == torch.strided else tensor.to_dense()


def _plain(ran: Ran) -> Ran:
    return replace(ran, written=dict(ran.written), elements={}, held={}, sizes={}, left={})


def _reported(error: BaseException | None) -> Account | Failure | None:
    if isinstance(error, NoProgram):
        return Failure(str(error), launch=error.launch)
    if isinstance(error, NotSimulated):
        return Failure(str(error), error.location)
    return None if error is None else account_of(error)
