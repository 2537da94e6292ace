"""The package as people get it: wheel, source distribution, editable install, bare checkout."""

from __future__ import annotations

import os
import tarfile
import venv
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.checkout import ROOT, copy_checkout, python, run

PROBE = """
from pathlib import Path
import tritonaudit.rules
rules = tritonaudit.rules.all_rules()
assert rules, "no rule was found"
for rule in rules:
    assert rule.__module__.startswith("tritonaudit.rules."), rule.__module__
    assert rule.page().startswith("# "), rule
print(Path(tritonaudit.rules.__file__).parent)
"""

NEITHER = """
from importlib.util import find_spec
assert find_spec("torch") is None and find_spec("triton") is None
"""


@dataclass(frozen=True)
class Built:
    """A source distribution, and the wheel that was built from it."""

    sdist: Path
    wheel: Path


@dataclass(frozen=True)
class Environment:
    """A virtual environment."""

    root: Path

    @classmethod
    def empty(cls, root: Path) -> Environment:
        venv.create(root, with_pip=True, symlinks=os.name != "nt")
        return cls(root)

    def program(self, name: str) -> Path:
        return self.root / ("Scripts" if os.name == "nt" else "bin") / name

    def install(self, *arguments: str | Path) -> None:
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(self.program("python"), *pip, *arguments, cwd=self.root)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    checkout = copy_checkout(folder / "checkout")
    python("-m", "build", "--outdir", folder / "dist", cwd=checkout)
    (sdist,), (wheel,) = (folder / "dist").glob("*.tar.gz"), (folder / "dist").glob("*.whl")
    return Built(sdist, wheel)


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment.empty(tmp_path_factory.mktemp("installed") / "venv")
    environment.install(built.wheel)
    return environment


def shipped() -> set[str]:
    """The files of the package, by their paths in a wheel."""
    packages = {"tritonaudit": ROOT / "tritonaudit", "tritonaudit/rules": ROOT / "rules"}
    return {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in packages.items()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.mark.slow
def test_the_wheel_has_every_module_and_page_and_nothing_else(built: Built) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert names == shipped()


@pytest.mark.slow
def test_the_source_distribution_has_what_the_tests_need(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("action", "docs", "examples", "fixtures", "rules", "tests", "tools", "tritonaudit"):
        files = {path for path in (ROOT / folder).rglob("*") if path.is_file() and "__pycache__" not in path.parts}
        assert {path.relative_to(ROOT).as_posix() for path in files} <= names
    assert {"LICENSE", "Makefile", "action.yml", "README.md", ".pre-commit-hooks.yaml", "setup.py"} <= names
    assert {"editors/vscode/package.json", "editors/vscode/extension.js"} <= names
    assert not any("node_modules" in name or name.endswith(".vsix") for name in names)


@pytest.mark.slow
def test_the_wheel_works_from_elsewhere_without_torch_and_triton(installed: Environment, tmp_path: Path) -> None:
    where = run(installed.program("python"), "-c", PROBE + NEITHER, cwd=tmp_path).stdout
    assert Path(where.strip()).parts[-2:] == ("tritonaudit", "rules")
    program = installed.program("tritonaudit")
    assert run(program, "--version", cwd=tmp_path).stdout.startswith("tritonaudit 0.")
    assert "softmax.py" in run(program, ROOT / "examples" / "faulty", cwd=tmp_path, code=1).stdout
    run(program, ROOT / "examples" / "clean", cwd=tmp_path)
    assert run(program, "explain", "TAM101", cwd=tmp_path).stdout.startswith("# ")


@pytest.mark.slow
def test_a_rule_cannot_be_written_into_an_installed_package(installed: Environment, tmp_path: Path) -> None:
    refused = run(installed.program("tritonaudit"), "new", "TAM199", "some-name", cwd=tmp_path, code=2)
    assert "checkout" in refused.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_an_editable_install_follows_the_checkout(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    environment = Environment.empty(tmp_path / "venv")
    environment.install("--editable", checkout)
    where = run(environment.program("python"), "-c", PROBE, cwd=tmp_path).stdout
    assert Path(where.strip()) == checkout / "rules"
    run(environment.program("tritonaudit"), ROOT / "examples" / "faulty", cwd=tmp_path, code=1)
    run(environment.program("tritonaudit"), "new", "TAM199", "some-name", cwd=tmp_path)
    assert "TAM199" in run(environment.program("tritonaudit"), "rules", cwd=tmp_path).stdout


def test_a_bare_checkout_works_as_it_is(tmp_path: Path) -> None:
    checkout = copy_checkout(tmp_path / "checkout")
    assert Path(python("-c", PROBE, cwd=checkout).stdout.strip()) == checkout / "rules"
    python("-m", "tritonaudit", "examples/faulty", cwd=checkout, code=1)
    python("-m", "tritonaudit", "examples/clean", cwd=checkout)


def test_the_rules_have_one_name(tmp_path: Path) -> None:
    refused = python("-c", "import rules", cwd=copy_checkout(tmp_path / "checkout"), code=1)
    assert "import the rules as tritonaudit.rules" in refused.stderr
