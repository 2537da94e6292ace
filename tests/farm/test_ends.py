"""How a farm ends before its subjects do: at a failure, on a full disk; and what --resume makes of its lines."""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_audit_jsonl import begun, surroundings
from tests.farm.running import FILES, SEED, UNSEEDED, WRONG, last_lines_in, lines_in, started


def seed_of(line: str) -> int:
    (subject,) = json.loads(line)["ran"]["subjects"]
    return int(subject["seed"])


def test_lines_of_another_seed_are_made_again_and_those_of_any_count_where_none_is_asked_for(
    project: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text("".join(f"{line}\n" for line in whole.values()))
    again = begun(project, "farm", FILES[0], *UNSEEDED, "--seed", "4", "--output", str(results), "--resume")
    _, err = again.communicate(timeout=170)
    assert again.returncode == 1, err
    lines = last_lines_in(results)
    assert {path: seed_of(line) for path, line in lines.items()} == {**dict.fromkeys(FILES, SEED), FILES[0]: 4}
    before = results.read_text()
    unseeded = begun(project, "farm", *FILES, *UNSEEDED, "--output", str(results), "--resume")
    unseeded.communicate(timeout=170)
    assert last_lines_in(results) == lines
    assert results.read_text() != before, "of each path one line is kept"


def test_it_stops_at_the_first_failure(project: Path, whole: dict[str, str], tmp_path: Path) -> None:
    results = tmp_path / "results.jsonl"
    stopped = started(project, ".", "--output", str(results), "--jobs", "1", "--stop-on", "fail")
    _, err = stopped.communicate(timeout=170)
    assert stopped.returncode == 1, err
    assert lines_in(results) == {WRONG: whole[WRONG]}


MOUNTED = """
mount -t tmpfs -o size=12k tmpfs "$1" && cp "$2" "$1/results.jsonl" || exit 99
disk=$1 kept=$2
shift 2
"$@"
code=$?
cp "$disk/results.jsonl" "$kept"
exit $code
"""
"""Runs a command whose results, at first those of the second argument, are on a disk of 12 KiB, and keeps them."""


def can_mount() -> bool:
    done = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.skipif(not shutil.which("unshare") or not can_mount(), reason="the system forbids mounts in a namespace")
def test_on_a_full_disk_it_says_so_and_the_lines_before_stay_whole(
    project: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    disk, kept = tmp_path / "disk", tmp_path / "kept.jsonl"
    disk.mkdir()
    kept.write_text(f"{whole[WRONG]}\n")
    results = disk / "results.jsonl"
    command = [sys.executable, "-m", "tritonaudit", "farm", *FILES, *UNSEEDED, "--output", str(results), "--resume"]
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", MOUNTED, "sh", str(disk), str(kept), *command],
        cwd=project,
        env=surroundings(project),
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert f"cannot write {results}: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert kept.read_text() == f"{whole[WRONG]}\n"


def test_without_room_for_temporary_files_it_ends_and_keeps_its_lines(
    project: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text(f"{whole[WRONG]}\n")
    command = [sys.executable, "-m", "tritonaudit", "farm", *FILES, *UNSEEDED, "--output", str(results), "--resume"]
    done = subprocess.run(
        command,
        cwd=project,
        env=surroundings(project),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "no room for temporary files" in done.stderr
    assert "Traceback" not in done.stderr
    assert results.read_text() == f"{whole[WRONG]}\n"
