"""Writing, reading and masking entries, many at once and of files that are broken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT, run
from tests.history.entries import entry, finding, history
from tritonaudit.history.commit import commit_of
from tritonaudit.history.folder import HistoryError, is_history, keep, read_history, set_masked

WRITER = """
import json, sys, time
from pathlib import Path
from tritonaudit.history.folder import keep
data = json.load(sys.stdin)
print("ready", flush=True)
while not Path(sys.argv[2]).exists():
    time.sleep(0.001)
print(keep(Path(sys.argv[1]), data).name)
"""


def test_entries_are_numbered_from_one(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "memory"
    assert [keep(folder, entry()).name for _ in range(3)] == ["v1.json", "v2.json", "v3.json"]
    assert sorted(path.name for path in folder.iterdir()) == ["v1.json", "v2.json", "v3.json"]


def test_the_next_number_is_after_the_highest_whatever_that_holds(tmp_path: Path) -> None:
    (tmp_path / "v7.json").write_text("{")
    (tmp_path / "v8.json.old").touch()
    assert keep(tmp_path, entry()).name == "v8.json"


def test_twenty_writers_lose_nothing_and_get_twenty_numbers(tmp_path: Path) -> None:
    folder, gate = tmp_path / "memory", tmp_path / "gate"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(folder), str(gate)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(20)
    ]
    for number, writer in enumerate(writers):
        assert writer.stdin is not None
        json.dump(entry(note=f"writer {number}"), writer.stdin)
        writer.stdin.close()
        writer.stdin = None
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    gate.touch()
    names = [writer.communicate(timeout=120)[0].strip() for writer in writers]
    assert sorted(names) == sorted(f"v{number}.json" for number in range(1, 21))
    found = read_history(folder)
    assert found.problems == ()
    assert {version.data["note"] for version in found.versions} == {f"writer {number}" for number in range(20)}
    for number, name in enumerate(names):
        assert json.loads((folder / name).read_text())["note"] == f"writer {number}"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not complete JSON"),
        (b'{"format": 1, "mas', "is not complete JSON"),
        (b"\xff\xfe", "is not complete JSON"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"NaN", "NaN is not a JSON number"),
        (b"{}", "does not match history.schema.json: the whole: 'format' is a required property"),
    ],
)
def test_a_broken_file_is_named_and_the_others_are_read(tmp_path: Path, content: bytes, said: str) -> None:
    history(tmp_path, entry(), entry(), entry())
    (tmp_path / "v2.json").write_bytes(content)
    found = read_history(tmp_path)
    assert [version.number for version in found.versions] == [1, 3]
    [problem] = found.problems
    assert problem.path == str(tmp_path / "v2.json")
    assert said in problem.message
    with pytest.raises(HistoryError, match=r"v2\.json: "):
        found.version(2)


def test_masking_flips_the_flag_alone(tmp_path: Path) -> None:
    hostile = 'here "masked": false, and "masked" : true'
    history(tmp_path, entry(note=hostile, findings=(finding(hostile),)))
    file = tmp_path / "v1.json"
    by_hand = b" \r\n" + file.read_bytes().replace(b'"masked": false', b'"masked"\t:\r\n false').replace(b"\n", b"\r\n")
    file.write_bytes(by_hand)
    file.chmod(0o640)
    assert set_masked(tmp_path, 1, True)
    assert file.read_bytes() == by_hand.replace(b"\r\n false", b"\r\n true")
    assert file.stat().st_mode & 0o777 == 0o640
    assert not set_masked(tmp_path, 1, True)
    assert set_masked(tmp_path, 1, False)
    assert file.read_bytes() == by_hand
    assert [path.name for path in tmp_path.iterdir()] == ["v1.json"]


def test_masked_versions_are_passed_over(tmp_path: Path) -> None:
    history(tmp_path, entry(), entry(), entry())
    set_masked(tmp_path, 2, True)
    found = read_history(tmp_path)
    assert [version.number for version in found.versions] == [1, 3]
    assert [version.number for version in found.every] == [1, 2, 3]
    with pytest.raises(HistoryError, match="v2 is masked"):
        found.version(2)
    assert keep(tmp_path, entry()).name == "v4.json"


def test_what_is_not_there_cannot_be_masked(tmp_path: Path) -> None:
    history(tmp_path, entry())
    (tmp_path / "v2.json").write_text("{")
    with pytest.raises(HistoryError, match=r"there is no .*v3\.json"):
        set_masked(tmp_path, 3, True)
    with pytest.raises(HistoryError, match="is not complete JSON"):
        set_masked(tmp_path, 2, True)
    with pytest.raises(HistoryError, match="begins a history"):
        read_history(tmp_path / "none")


def test_a_folder_with_other_things_is_no_history(tmp_path: Path) -> None:
    assert is_history(tmp_path / "new")
    assert is_history(tmp_path)
    (tmp_path / ".gitkeep").touch()
    assert is_history(tmp_path)
    (tmp_path / "kernels.py").touch()
    assert not is_history(tmp_path)
    (tmp_path / "v1.json").touch()
    assert is_history(tmp_path)
    assert not is_history(tmp_path / "kernels.py")


def test_the_commit_and_whether_files_differ(tmp_path: Path) -> None:
    project = tmp_path / "project"
    memory = project / "memory"
    memory.mkdir(parents=True)
    assert commit_of(project, memory) is None
    run("git", "init", "-q", cwd=project)
    assert commit_of(project, memory) is None
    (project / "kernels.py").write_text("")
    run("git", "add", ".", cwd=project)
    run("git", "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "it", cwd=project)
    commit = run("git", "rev-parse", "HEAD", cwd=project).stdout.strip()
    (memory / "v1.json").touch()
    assert commit_of(project, memory) == {"id": commit, "dirty": False}
    assert commit_of(project, tmp_path / "elsewhere") == {"id": commit, "dirty": True}
    (project / "kernels.py").write_text("x = 1")
    assert commit_of(project, memory) == {"id": commit, "dirty": True}
