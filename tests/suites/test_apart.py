"""The wrapper is called in a process apart: tensors get there and back as they are, and what it says is only data."""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
import torch

from tests.checkout import ROOT
from tritonaudit.config import Config
from tritonaudit.data import NotData, decode, encode
from tritonaudit.execute.confine import _version
from tritonaudit.shown import shown_path
from tritonaudit.suites.apart.messages import Answer, Failure, Said
from tritonaudit.suites.apart.sending import Laid, Opened, Parcel, receive
from tritonaudit.suites.calling import is_same
from tritonaudit.suites.coverage import Verdict
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.gather import SubjectRun
from tritonaudit.suites.stage import RunRequest, Where, run_paths

CHEATS = ROOT / "bench" / "cheating" / "cheats"


def there_and_back(*tensors: torch.Tensor) -> list[torch.Tensor]:
    parcel = Parcel()
    laid = [parcel.lay(tensor) for tensor in tensors]
    with Opened(parcel.file()) as opened:
        return [opened.tensor(one) for one in laid]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float8_e5m2, torch.bool, torch.complex64, torch.int64])
def test_a_tensor_keeps_its_bits_and_how_it_lies(dtype: torch.dtype) -> None:
    whole = torch.randn(6, 8).to(dtype)
    tensors = [whole[1:4, ::2].t(), whole[:0], whole[2, 3], whole[:1].expand(5, 8)]
    for sent, found in zip(tensors, there_and_back(*tensors), strict=True):
        assert (found.dtype, found.shape, found.stride()) == (sent.dtype, sent.shape, sent.stride())
        assert is_same(found, sent)


def test_tensors_that_share_memory_share_it_again() -> None:
    whole = torch.zeros(8, requires_grad=True)
    one, other, third = there_and_back(whole, whole.detach()[4:], torch.zeros(8))
    other.fill_(1.0)
    assert one.requires_grad
    assert not other.requires_grad
    assert (one.sum().item(), third.sum().item()) == (4.0, 0.0)


LAID = Laid(0, 32, 1, "float32", (8,), (1,), 0)


@pytest.mark.parametrize(
    "change",
    [
        {"shape": (9,)},
        {"offset": 1},
        {"strides": (2,)},
        {"strides": (-1,)},
        {"shape": (1 << 62,), "strides": (1 << 62,)},
        {"size": 1 << 40},
        {"size": 64},
        {"start": 1 << 62},
        {"start": -8},
        {"dtype": "load"},
        {"shape": (2, 4)},
    ],
)
def test_what_is_no_tensor_of_the_bytes_is_refused(change: dict[str, object]) -> None:
    parcel = Parcel()
    assert parcel.lay(torch.arange(8.0)).size == 32
    with Opened(parcel.file()) as opened, pytest.raises(NotData):
        opened.tensor(replace(LAID, **change))  # type: ignore[arg-type]


def run_of(path: Path) -> SubjectRun:
    found = run_paths([path], Config(path.parent), RunRequest(5.0, jobs=2, device=Where.CPU, most_cases=20))
    (run,) = found.runs
    return run


HOSTILE = """
import os, pickle, random, signal
import torch

class Mark:
    def __reduce__(self):
        return open, ("MARK", "w")

def deed():
    random.seed(0)
    for descriptor in range(3, 64):
        for message in (pickle.dumps(Mark()), random.randbytes(100)):
            try:
                os.write(descriptor, len(message).to_bytes(8, "big") + message)
            except OSError:
                pass

WHEN
"""
HONEST = """
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def twice_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * 2, mask=at < n)


def twice(x):
    x = x.contiguous()
    out = torch.empty_like(x)
    if x.numel():
        twice_kernel[(triton.cdiv(x.numel(), 128),)](x, out, x.numel(), BLOCK=128)
    return out


twice_subject = Subject(twice, reference=lambda x: 2 * x, inputs=[Tensor("n")], dtypes=["float32"])
"""


@pytest.mark.parametrize("when", ["deed()", "forward = twice\ndef twice(x):\n    deed()\n    return forward(x)"])
def test_messages_of_its_own_move_nobody(tmp_path: Path, when: str) -> None:
    head, _, tail = HONEST.partition("twice_subject")
    text = HOSTILE.replace("MARK", str(tmp_path / "mark"))
    hostile = tmp_path / "audit_hostile.py"
    hostile.write_text(head + text.replace("WHEN", when) + "\ntwice_subject" + tail)
    honest = tmp_path / "audit_honest.py"
    honest.write_text(HONEST)
    found = run_paths([hostile, honest], Config(tmp_path), RunRequest(5.0, jobs=2, device=Where.CPU, most_cases=20))
    verdicts = {run.path.name: run.verdict for run in found.runs}
    assert verdicts["audit_honest.py"] is Verdict.PASS
    assert verdicts.get("audit_hostile.py") is not Verdict.PASS
    assert "audit_hostile.py" in verdicts or [one.path for one in found.audit.problems] == [shown_path(hostile)]
    assert not (tmp_path / "mark").exists()
    if when != "deed()":
        (run,) = (run for run in found.runs if run.path == hostile)
        assert run.verdict is Verdict.FAIL
        reported = [seen.text for trial in run.trials for seen in trial.sightings if seen.symptom is Symptom.CRASH]
        assert reported
        assert all(text.startswith("its process sent what is not an answer: ") for text in reported)


def test_what_is_no_message_is_not_waited_for() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall((1 << 62).to_bytes(8, "big") + b"x")
    with pytest.raises(NotData, match="a message of 4,611,686,018,427,387,904 bytes"):
        receive(ours)
    ours, theirs = socket.socketpair()
    theirs.sendall((100).to_bytes(8, "big") + b"x")
    theirs.close()
    assert receive(ours) is None


def test_ten_thousand_words_that_were_changed_at_random_are_words_or_refused(tmp_path: Path) -> None:
    mark, numbers = tmp_path / "mark", Random(7)
    word = encode(Said(Answer(error=Failure("no", launch=None))))
    harm = b"cbuiltins\nopen\n(V" + str(mark).encode() + b"\nVw\ntR."
    refused = 0
    for _ in range(10_000):
        at, length = numbers.randrange(len(word)), numbers.randrange(12)
        new = numbers.choice((numbers.randbytes(length), harm, b"[" * 3000, b'{"":"Lost"}', b"1e999", b""))
        try:
            assert isinstance(decode(Said, word[:at] + new + word[at + length :]), Said)
        except NotData:
            refused += 1
    assert refused > 9000
    assert not mark.exists()


HARM = """
import os, pathlib, signal

def deed():
    for harm in (
        lambda: pathlib.Path("REPORT").write_text("[]"),
        lambda: pathlib.Path("REPORT").unlink(),
        lambda: (pathlib.Path.home() / "tensors").symlink_to("REPORT"),
        lambda: (pathlib.Path.home() / "tensors").write_text("[]"),
        lambda: os.kill(AUDITOR, signal.SIGTERM),
        lambda: os.kill(os.getppid(), signal.SIGKILL),
    ):
        try:
            harm()
        except OSError as error:
            last = error
    raise last

WHEN
"""


@pytest.mark.skipif(_version() < 6, reason="Landlock keeps signals back since Linux 6.12")
@pytest.mark.parametrize("when", ["deed()", "def twice(x):\n    deed()"])
def test_the_auditor_and_its_files_stay_as_they_were(tmp_path: Path, when: str) -> None:
    head, _, tail = HONEST.partition("twice_subject")
    report = tmp_path / "report.json"
    report.write_text("true")
    text = HARM.replace("REPORT", str(report)).replace("AUDITOR", str(os.getpid())).replace("WHEN", when)
    hostile = tmp_path / "audit_hostile.py"
    hostile.write_text(head + text + "\ntwice_subject" + tail)
    found = run_paths([hostile], Config(tmp_path), RunRequest(5.0, jobs=1, device=Where.CPU, most_cases=20))
    reported = [finding.message for finding in found.audit.findings] + [one.message for one in found.audit.problems]
    assert any("Operation not permitted" in one for one in reported), reported
    assert report.read_text() == "true"


@pytest.mark.parametrize(
    ("cheat", "words"),
    [
        ("pair_patched_rsqrt", "output"),
        ("pair_numpy_data_ptr", "nobody was seen|by the last launch or operator of torch"),
        ("pair_other_process", "by the last launch or operator of torch"),
        ("pair_torch_half", "of the arithmetic that the reference takes"),
        ("pair_dataclass_output", "output"),
        ("pair_looks_like_launch", "are made by `softmax` of torch"),
        ("pair_fft_convolution", "of the arithmetic that the reference takes"),
    ],
)
def test_a_cheat_is_refused_for_the_right_reason(cheat: str, words: str) -> None:
    run = run_of(CHEATS / f"{cheat}.py")
    assert run.verdict is Verdict.FAIL
    reported = [seen.text for trial in run.trials for seen in trial.sightings if seen.is_certain]
    assert any(word in text for text in reported for word in words.split("|")), reported


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        ("lambda x: twice(x.float()).to(x.dtype)", "the reference launches `twice_kernel`, which is judged"),
        ("doubled", "the reference launches `doubled_kernel`, which only a GPU executes for it"),
    ],
)
def test_a_kernel_is_not_held_against_itself(tmp_path: Path, reference: str, words: str) -> None:
    (tmp_path / "other.py").write_text(HONEST.partition("twice_subject")[0].replace("twice", "doubled"))
    path = tmp_path / "audit_twice.py"
    path.write_text(
        HONEST.replace("lambda x: 2 * x", reference).replace(
            "import torch\n", "import torch\nfrom other import doubled\n", 1
        )
    )
    run = run_of(path)
    assert run.verdict is Verdict.INCOMPLETE
    assert any(words in one.reason for one in run.outcomes)


BY_ADDRESS = """
import ctypes

import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def halve_kernel(table_ptr, count_ptr, n, BLOCK: tl.constexpr):
    x_ptr = tl.load(table_ptr + tl.program_id(1)).to(tl.pointer_type(tl.float32))
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) * 0.5, mask=at < n)
    tl.atomic_add(count_ptr, 1)


def halve_(one, other):
    table = torch.tensor([x.data_ptr() for x in (one, other)], device=one.device)
    count = torch.zeros(1, device=one.device, dtype=torch.int32)
    assert one.is_contiguous() and other.is_contiguous()
    if one.numel():
        halve_kernel[(triton.cdiv(one.numel(), 64), PROGRAMS)](table, count, one.numel(), BLOCK=64)
    if PROGRAMS == 1:
        halves = (ctypes.c_float * other.numel()).from_address(other.data_ptr())
        halves[:] = [number / 2 for number in halves]


def reference(one, other):
    one.mul_(0.5)
    other.mul_(0.5)


halves = Subject(
    halve_, reference=reference, inputs=[Tensor("n"), Tensor("n")], mutates=["one", "other"], dtypes=["float32"]
)
"""


@pytest.mark.parametrize("programs", [2, 1])
def test_a_kernel_writes_to_what_it_finds_by_its_address(tmp_path: Path, programs: int) -> None:
    path = tmp_path / "audit_halves.py"
    path.write_text(BY_ADDRESS.replace("PROGRAMS", str(programs)))
    run = run_of(path)
    reported = {seen.symptom for trial in run.trials for seen in trial.sightings if seen.is_certain}
    assert reported == (set() if programs == 2 else {Symptom.TORCH_WORK})


def test_what_host_code_keeps_of_tensors_without_memory_meets_no_other_call() -> None:
    """Calls that only show where accesses go come in between; a buffer that is kept is then one without memory."""
    run = run_of(CHEATS.parent / "honest" / "pair_workspace_kept.py")
    assert run.verdict is Verdict.PASS
    assert any("large tensors" in one.check for one in run.outcomes)
