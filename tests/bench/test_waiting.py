"""Which files a bench of waiting draws."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.waiting.__main__ import FOLDERS, drawn


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("audit_a.py", "pair_b.py", "deeper/audit_c.py", "kernels.py", "audit_d.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    return tmp_path


def test_files_with_subjects_are_drawn_and_no_others(folder: Path) -> None:
    assert sorted(path.name for path in drawn([folder], 9, 0)) == ["audit_a.py", "audit_c.py", "pair_b.py"]
    assert drawn([folder / "pair_b.py"], 9, 0) == [folder / "pair_b.py"]


def test_a_seed_draws_the_same_again_and_another_one_others() -> None:
    assert drawn(FOLDERS, 20, 5) == drawn(FOLDERS, 20, 5)
    assert drawn(FOLDERS, 20, 5) != drawn(FOLDERS, 20, 12)
