"""Spoiled kernel files beside healthy ones: a small part of what `python bench/robustness mutate` does."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.robustness.batches import (
    Healthy,
    audit,
    check_batch,
    check_odd_tree,
    healthy_files,
    write_importing_tree,
    write_odd_tree,
)
from bench.robustness.mutations import Mutant, mutants
from tests.checkout import ROOT

LIMIT = 300.0  # a hang, not a busy machine
COUNT = 99
LARGEST = 300_000


@pytest.fixture(scope="module")
def sources() -> list[bytes]:
    """The project's own kernels."""
    folders = (ROOT / "examples", ROOT / "fixtures")
    return [path.read_bytes() for folder in folders for path in sorted(folder.rglob("*.py"))]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> list[Healthy]:
    """Files with findings, and what they are when nothing else is audited."""
    files = [(path.name, path.read_bytes()) for path in sorted((ROOT / "examples" / "faulty").glob("*.py"))]
    found = healthy_files(files, tmp_path_factory.mktemp("alone"), LIMIT)
    assert all(file.findings for file in found)
    return found


def test_no_mutant_harms_the_audit(sources: list[bytes], healthy: list[Healthy], tmp_path: Path) -> None:
    batch = [mutant for mutant in mutants(sources, COUNT, seed=1) if len(mutant.data) < LARGEST]
    assert check_batch(tmp_path, batch, healthy, LIMIT, formats=("json", "github")) == []


def test_every_format_is_well_formed(sources: list[bytes], healthy: list[Healthy], tmp_path: Path) -> None:
    tame = [mutant for mutant in mutants(sources, COUNT, 3) if len(mutant.data) < 5_000]
    assert check_batch(tmp_path, tame, healthy, LIMIT) == []


def test_mutants_are_the_same_for_the_same_seed(sources: list[bytes]) -> None:
    assert mutants(sources, COUNT, 1) == mutants(sources, COUNT, 1)
    assert mutants(sources, COUNT, 1) != mutants(sources, COUNT, 2)


def test_odd_names_and_things_that_are_no_files(healthy: list[Healthy], tmp_path: Path) -> None:
    write_odd_tree(tmp_path, healthy[0].data, healthy)
    assert check_odd_tree(tmp_path, healthy, LIMIT) == []


def test_an_import_of_what_is_no_file(healthy: list[Healthy], tmp_path: Path) -> None:
    write_importing_tree(tmp_path, healthy[0].data, healthy)
    assert audit(tmp_path, "json", 10).code in (0, 1, 2)


def test_a_defect_would_be_noticed(healthy: list[Healthy], tmp_path: Path) -> None:
    changed = [Healthy(file.place, file.data) for file in healthy]
    defects = check_batch(tmp_path, [Mutant("empty", b"")], changed, LIMIT, formats=("json",))
    assert {defect.path for defect in defects} == {file.place for file in healthy}
