"""What is known of a subject outlives the process, unless the file is damaged or another has it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.capture.launch import KernelRef
from tritonaudit.subject.model import Case
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.journal import Begun, Ended, Entry, Journal, Simplified, Stopped, Trial
from tritonaudit.suites.outcome import CaseOutcome, Sighting, Simplest

CASE, SMALLER = Case({"n": 1000}), Case({"n": 3})
CALL = Trial("call", CASE.label)
WRONG = Sighting(Symptom.WRONG_RESULT, KernelRef("kernels.py", "kernel", 1), None, "off by one")
OUTCOME = CaseOutcome(CASE, frozenset((Symptom.WRONG_RESULT,)), (WRONG,))
ENTRIES: list[Entry] = [Begun(CALL, CASE), Ended(CALL, OUTCOME, 1.5), Stopped((("the rest", "no time"),), 2.0)]


def kept(path: Path, *entries: Entry) -> Path:
    """A file with the entries, of a process that has ended."""
    journal = Journal(path)
    for entry in entries:
        journal.add(entry)
    journal.close()
    return path


def resumed(path: Path) -> tuple[Entry, ...]:
    journal = Journal(path, resumes=True)
    journal.close()
    return journal.read().entries


def test_entries_outlive_the_process_in_their_order(tmp_path: Path) -> None:
    path = kept(tmp_path / "new" / "folder" / "a.journal", *ENTRIES)
    assert list(resumed(path)) == ENTRIES


def test_an_audit_that_does_not_resume_empties_it(tmp_path: Path) -> None:
    path = kept(tmp_path / "a.journal", *ENTRIES)
    Journal(path).close()
    assert resumed(path) == ()


def test_an_entry_that_was_left_half_written_is_dropped_and_more_can_follow(tmp_path: Path) -> None:
    path = kept(tmp_path / "a.journal", *ENTRIES)
    whole = path.read_bytes()
    for missing in (1, 20, len(whole) - 3):
        path.write_bytes(whole[: len(whole) - missing])
        there = list(resumed(path))
        assert there == ENTRIES[: len(there)]
        assert len(there) < len(ENTRIES)
        journal = Journal(path, resumes=True)
        journal.add(ENTRIES[-1])
        journal.close()
        assert list(resumed(path)) == [*there, ENTRIES[-1]]


@pytest.mark.parametrize("place", [0, 9, 20, 100])
def test_a_damaged_file_begins_anew(tmp_path: Path, place: int) -> None:
    path = kept(tmp_path / "a.journal", *ENTRIES)
    data = bytearray(path.read_bytes())
    data[place] ^= 0x40
    path.write_bytes(data)
    assert resumed(path) == ()
    assert list(resumed(kept(path, *ENTRIES))) == ENTRIES


def test_what_is_no_journal_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    path.write_bytes(b"\0\0\0\0\0\0\0\x04spam" * 40)
    assert resumed(path) == ()


def test_two_at_once_keep_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    first = Journal(path)
    first.add(ENTRIES[0])
    second = Journal(path, resumes=True)
    assert second.read().entries == ()
    second.add(ENTRIES[2])
    first.add(ENTRIES[1])
    first.close()
    assert list(resumed(path)) == ENTRIES[:2]
    assert second.read().entries == (ENTRIES[2],)


def test_a_file_is_free_again_when_its_process_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    code = (
        "import os, sys; from pathlib import Path; from tritonaudit.suites.journal import *;"
        "journal = Journal(Path(sys.argv[1])); journal.add(Stopped()); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, check=False)
    assert done.returncode == -9
    assert resumed(path) == (Stopped(),)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    journal = Journal(tmp_path / "a.journal")
    journal.add(ENTRIES[0])
    assert journal.read().entries == (ENTRIES[0],)


def test_a_folder_in_its_place_is_no_file(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    journal.add(ENTRIES[0])
    assert journal.read().entries == (ENTRIES[0],)


def test_without_a_file_it_is_in_memory() -> None:
    journal = Journal()
    for entry in ENTRIES:
        journal.add(entry)
    assert list(journal.read().entries) == ENTRIES


def test_a_record_knows_what_is_under_way_and_what_was_broken_off() -> None:
    journal = Journal()
    journal.add(Begun(CALL, CASE, 0.5))
    assert journal.read().under_way == Begun(CALL, CASE, 0.5)
    assert journal.read().broken_off == {CALL: 1}
    journal.add(Begun(CALL, CASE, 0.7))
    assert journal.read().broken_off == {CALL: 2}
    journal.add(Ended(CALL, OUTCOME, 1.5))
    record = journal.read()
    assert record.under_way is None
    assert record.broken_off == {CALL: 1}
    assert record.outcomes == {CALL: OUTCOME}
    assert (record.spent, record.stopped) == (1.5, None)
    journal.add(ENTRIES[-1])
    assert (journal.read().spent, journal.read().stopped) == (2.0, ENTRIES[-1])


def test_sightings_have_the_simplest_case_that_was_found_later() -> None:
    journal = Journal()
    journal.add(Ended(CALL, OUTCOME))
    journal.add(Simplified(CALL, WRONG.key, Simplest(SMALLER, "0, wanted 1")))
    (ended,) = journal.read().ended
    assert [one.simplest for one in ended.outcome.sightings] == [Simplest(SMALLER, "0, wanted 1")]
