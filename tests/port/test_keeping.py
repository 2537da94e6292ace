"""What is written: logs that replace nobody else's files, and folders with an attempt in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.port.keeping import NotOurs, write_attempt, write_log


def test_a_log_is_written_and_written_again(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "add_log.md"
    write_log(path, "# One\n")
    write_log(path, "# Two\n")
    assert path.read_text().startswith("# Two\n\n<!-- Written by `tritonaudit select`")


def test_what_is_not_ours_stays(tmp_path: Path) -> None:
    path = tmp_path / "add_log.md"
    path.write_text("# Mine: Written by `tritonaudit select`, I once wrote\n")
    with pytest.raises(NotOurs, match="was not written by this tool"):
        write_log(path, "# Two\n")
    assert path.read_text().startswith("# Mine")
    with pytest.raises(NotOurs):
        write_log(tmp_path, "a folder is no log")


def test_an_attempt_stands_beside_what_it_may_import(tmp_path: Path) -> None:
    operation = tmp_path / "add"
    operation.mkdir()
    for name in ("v1.py", "v2.py", "helper.py"):
        (operation / name).write_text(name)
    folder = tmp_path / "logs" / "attempts" / "add_v2_1"
    written = write_attempt(folder, operation, operation / "v2.py", b"new")
    assert written == folder / "add" / "v2.py"
    assert {path.name: path.read_text() for path in written.parent.iterdir()} == {
        "v1.py": "v1.py",
        "v2.py": "new",
        "helper.py": "helper.py",
    }
    assert (operation / "v2.py").read_text() == "v2.py"
    assert write_attempt(folder, operation, operation / "v2.py", b"newer").read_bytes() == b"newer"


def test_a_folder_that_is_not_ours_gets_no_attempt(tmp_path: Path) -> None:
    (tmp_path / "add_v2_1").mkdir()
    with pytest.raises(NotOurs):
        write_attempt(tmp_path / "add_v2_1", tmp_path, tmp_path / "v2.py", b"new")
    assert list((tmp_path / "add_v2_1").iterdir()) == []
