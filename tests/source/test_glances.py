"""What a file's bytes tell before it is parsed, and when an earlier run's word for it counts."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tritonaudit.source.glances import Glance, Glances, Users, python_files

LONG_AGO = 10**9


def used(text: str, tmp_path: Path) -> set[str]:
    path = tmp_path / "m.py"
    path.write_text(text)
    return set(Glances().of(str(path)).used)


def settled(path: Path) -> Glances:
    """What a run keeps that has looked at the file."""
    glances = Glances()
    glances.of(str(path))
    return Glances(glances.settled())


@pytest.mark.parametrize(
    "launch",
    [
        "copy[grid](x)",
        "copy[(n,)](x)",
        "copy [ (n, cdiv(m, BLOCK)) ] (x)",
        "kernels.copy[grid](x)",
        'copy[lambda META: (cdiv(n, META["BLOCK"]),)](x)',
        "copy[\n    (n, m),\n](\n    x)",
    ],
)
def test_a_launch_names_its_kernel(launch: str, tmp_path: Path) -> None:
    assert used(launch + "\n", tmp_path) == {"copy"}


@pytest.mark.parametrize(
    "imports",
    [
        "from .kernels import copy, scale",
        "from .kernels import (\n    copy,\n    scale,\n)",
        "from .kernels import copy, \\\n    scale",
        "if True:\n    from ..ops.kernels import copy, scale",
    ],
)
def test_what_is_imported_may_be_launched_or_launch(imports: str, tmp_path: Path) -> None:
    launch = "chosen = copy if n else scale\nchosen[grid](x)\n"
    assert used(f"{imports}\n{launch}", tmp_path) == {"chosen", "copy", "scale"}
    assert used(f"{imports}\ncopy(x)\n", tmp_path) == {"copy", "scale"}  # or what launches it may be


def test_what_is_imported_beside_kernels_may_be_called(tmp_path: Path) -> None:
    text = "import triton\nfrom .helpers import scaled\n\n@triton.jit\ndef kernel(x):\n    scaled(x)\n"
    assert used(text, tmp_path) == {"scaled"}


@pytest.mark.parametrize("text", ["](x)\n", "[[[[](\n", "x = [f for f in y](0)\n", "a[" + "b" * 500 + "](x)\n"])
def test_what_is_no_launch_names_nothing(text: str, tmp_path: Path) -> None:
    assert used(text, tmp_path) == set()


def test_what_an_earlier_run_saw_counts_while_the_file_is_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.py"
    path.write_text("copy[grid](x)\n")
    monkeypatch.setattr("time.time_ns", lambda: path.stat().st_ctime_ns + 10**10)
    later = settled(path)
    assert later.of(str(path)).used == ("copy",)
    assert not later.learnt
    path.write_text("move[grid](x)\n")
    monkeypatch.setattr("time.time_ns", lambda: 0)
    earlier = settled(path)
    assert earlier.of(str(path)).used == ("move",)
    assert earlier.learnt


def test_a_file_that_was_given_its_old_time_back_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.py"
    path.write_text("copy[grid](x)\n")
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    monkeypatch.setattr("time.time_ns", lambda: path.stat().st_ctime_ns + 10**10)
    later = settled(path)
    path.write_text("move[grid](x)\n")
    os.utime(path, ns=(LONG_AGO, LONG_AGO))
    assert later.of(str(path)).used == ("move",)


def test_a_file_that_has_just_changed_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("copy[grid](x)\n")
    later = settled(path)
    later.of(str(path))
    assert later.learnt


def test_a_process_reads_a_file_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tritonaudit.source.glances._SETTLED_NS", 0)
    path = tmp_path / "m.py"
    path.write_text("copy[grid](x)\n")
    time.sleep(0.02)  # its time is past
    first = Glances().of(str(path))
    later = Glances()
    assert later.of(str(path)) is first
    assert later.learnt, "a cache that has not got it keeps it"
    path.write_text("fill[grid](x, 0)\n")
    assert Glances().of(str(path)).used == ("fill",)


def test_what_cannot_be_read_has_no_digest(tmp_path: Path) -> None:
    glances = Glances()
    assert glances.digest(str(tmp_path / "none.py")) == glances.digest(str(tmp_path)) == ""
    with pytest.raises(OSError, match="not a regular file"):
        glances.of(str(tmp_path))


def test_hidden_folders_environments_and_linked_folders_are_passed_over(tmp_path: Path) -> None:
    for place in ("a.py", "pkg/b.py", "pkg/deep/c.py", ".git/d.py", "env/pyvenv.cfg", "env/e.py", "node_modules/f.py"):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "link").symlink_to(tmp_path / "pkg")
    found = python_files(str(tmp_path))
    assert [os.path.relpath(path, tmp_path) for path in found] == ["a.py", "pkg/b.py", "pkg/deep/c.py"]


def test_a_project_of_too_many_files_is_not_looked_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a.py", "b.py", "deep/c.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("copy[grid](x)\n")
    assert len(Users(Glances()).naming("copy", str(tmp_path))) == 3
    monkeypatch.setattr("tritonaudit.source.glances._MOST_FILES", 1)
    assert Users(Glances()).naming("copy", str(tmp_path)) == []


def test_a_glance_says_how_large_the_file_is_and_whether_it_may_hold_kernels(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("import triton\n\n@triton.jit\ndef f(x):\n    pass\n")
    found = Glances().of(str(path))
    assert found == Glance(path.stat().st_size, found.digest, True, ())
