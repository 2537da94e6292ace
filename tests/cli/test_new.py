"""`tritonaudit new`, in a copy of the checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.checkout import ROOT, copy_checkout, python

SOURCE = Path("rules", "memory", "some_name.py")
FIXTURE = Path("fixtures", "rules", "TAM199_some_name")
WRITTEN = (SOURCE, SOURCE.with_suffix(".md"), FIXTURE / "bad.py", FIXTURE / "good.py", FIXTURE / "bad.txt")

LOADS = """
from tritonaudit.rules import find_rule
rule = find_rule("TAM199")
assert rule is find_rule("some-name")
assert rule.facts().__name__ == "KernelFlow"
print([line for line in rule.page().splitlines() if line.startswith("#")])
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return copy_checkout(tmp_path / "checkout")


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout in which nothing is ever written, which each refusal makes sure of."""
    return copy_checkout(tmp_path_factory.mktemp("untouched") / "checkout")


def new(checkout: Path, *arguments: str) -> Path:
    """Write a rule; its Python file."""
    written = python("-m", "tritonaudit", "new", *arguments, cwd=checkout).stdout
    return Path(written.splitlines()[0].removeprefix("wrote "))


def refusal(checkout: Path, *arguments: str) -> str:
    before = {path: path.stat().st_mtime_ns for path in checkout.rglob("*.*") if "__pycache__" not in path.parts}
    refused = python("-m", "tritonaudit", "new", *arguments, cwd=checkout, code=2)
    after = {path: path.stat().st_mtime_ns for path in checkout.rglob("*.*") if "__pycache__" not in path.parts}
    assert before == after
    assert refused.stdout == ""
    assert refused.stderr.startswith("tritonaudit: ")
    assert refused.stderr.count("\n") == 1
    return refused.stderr


def test_a_new_rule_is_found_at_once(checkout: Path) -> None:
    written = python("-m", "tritonaudit", "new", "TAM199", "some-name", cwd=checkout).stdout
    assert [Path(line.removeprefix("wrote ")) for line in written.splitlines()] == list(WRITTEN)
    assert all((checkout / path).is_file() for path in WRITTEN)
    headings = python("-c", LOADS, cwd=checkout).stdout
    for heading in (
        *("What it does", "Why", "Example", "Use instead", "When it stays silent", "Fix safety", "References"),
    ):
        assert f"'## {heading}'" in headings
    assert "TAM199  some-name" in python("-m", "tritonaudit", "rules", cwd=checkout).stdout


@pytest.mark.slow
def test_new_rules_pass_ruff_and_mypy(checkout: Path) -> None:
    sources = [
        new(checkout, code, name)
        for code, name in (("TAM199", "one-name"), ("TAM399", "another-name"), ("TAM499", "third-name"))
    ]
    python("-m", "ruff", "check", *sources, cwd=checkout)
    python("-m", "ruff", "format", "--check", *sources, cwd=checkout)
    if (ROOT / ".mypy_cache").is_dir():  # of the files that are the same, which are most
        shutil.copytree(ROOT / ".mypy_cache", checkout / ".mypy_cache")
    python("-m", "mypy", *sources, cwd=checkout)


@pytest.mark.parametrize(("code", "facts"), [("TAM399", "CompiledKernel"), ("TAM499", "RunKernel")])
def test_a_rule_of_a_later_stage_reads_its_facts(checkout: Path, code: str, facts: str) -> None:
    new(checkout, code, "some-name")
    reported = f"from tritonaudit.rules import find_rule; print(find_rule({code!r}).facts().__name__)"
    assert python("-c", reported, cwd=checkout).stdout == f"{facts}\n"
    for name in ("bad.py", "good.py"):
        spec = checkout / "fixtures" / "rules" / f"{code}_some_name" / name
        assert 'copy_subject = Subject(copy, inputs=Tensor("size"))' in spec.read_text(encoding="utf-8")


def test_a_rule_of_the_tool_itself(checkout: Path) -> None:
    new(checkout, "TAX990", "some-name")
    assert (checkout / "rules" / "tool" / "some_name.py").is_file()


@pytest.mark.parametrize(
    ("code", "name", "why"),
    [
        ("TAM101", "some-name", "TAM101 is taken"),
        ("TAM199", "unmasked-access", "unmasked-access is taken: TAM101"),
        ("TAQ199", "some-name", "is not a code"),
        ("tam199", "some-name", "is not a code"),
        ("TAM199", "Some_Name", "is not a name"),
        ("TAM199", "../../etc", "is not a name"),
        ("TAM199", "3d-tile", "cannot name a module"),
        ("TAM599", "some-name", "TAM599 belongs to the stage measure, which does not exist yet"),
    ],
)
def test_what_is_refused(untouched: Path, code: str, name: str, why: str) -> None:
    assert why in refusal(untouched, code, name)


@pytest.mark.parametrize("path", WRITTEN)
def test_nothing_is_overwritten(checkout: Path, path: Path) -> None:
    (checkout / path).parent.mkdir(parents=True, exist_ok=True)
    (checkout / path).write_text("# mine\n")
    assert path.name in refusal(checkout, "TAM199", "some-name")
