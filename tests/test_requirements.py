"""The Triton versions that a project's metadata ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.engine import check
from tritonaudit.requirements import asked_target
from tritonaudit.target import KNOWN, Target


def target_of(folder: Path, name: str, text: str) -> Target | None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return asked_target(folder)


def project(*requirements: str, **extras: list[str]) -> str:
    listed = "".join(f"{extra} = {names!r}\n" for extra, names in extras.items())
    return f"[project]\ndependencies = {list(requirements)!r}\n[project.optional-dependencies]\n{listed}"


@pytest.mark.parametrize(
    ("requirement", "text"),
    [
        ("triton>=3.3", ">=3.3"),
        ("triton==3.1.0", "==3.1"),
        ("triton == 3.4.*", "==3.4"),
        ("triton~=3.5.0", "==3.5"),
        ("triton>=3.3.1,<3.6", ">=3.3,<=3.5"),
        ("triton>=3.0,!=3.2.0,!=3.2.1", ">=3.0"),
        ("triton>=3.0,!=3.2.*", ">=3.0,!=3.2"),
        ('triton>=3.4; platform_system == "Linux"', ">=3.4"),
        ("torch==2.7.1", "==3.3"),
        ("torch>=2.6", ">=3.2"),
        ("torch[opt-einsum]>=2.8,<2.10", ">=3.4,<=3.5"),
        ("torch==2.9.0+cu128", "==3.5"),
    ],
)
def test_a_requirement_of_triton_or_torch_says_the_releases(tmp_path: Path, requirement: str, text: str) -> None:
    target = target_of(tmp_path, "pyproject.toml", project("numpy>=1.2", requirement))
    assert target is not None
    assert (target.text, target.asked_in) == (text, "pyproject.toml")


@pytest.mark.parametrize(
    "requirement", ["triton", "torch", "pytorch-triton==3.1", "torch==2.9.0+musa", "tritonclient>=2"]
)
def test_what_names_no_release_of_triton_says_nothing(tmp_path: Path, requirement: str) -> None:
    assert target_of(tmp_path, "pyproject.toml", project(requirement)) is None


def test_triton_and_torch_must_both_hold(tmp_path: Path) -> None:
    target = target_of(tmp_path, "pyproject.toml", project("torch>=2.6", "triton<3.5"))
    assert target is not None
    assert target.text == ">=3.2,<=3.4"


def test_extras_are_alternatives_and_those_of_developers_do_not_count(tmp_path: Path) -> None:
    text = project("numpy", cuda=["triton>=3.6"], rocm=["triton==3.3.0"], dev=["triton==2.1.0"])
    target = target_of(tmp_path, "pyproject.toml", text)
    assert target is not None
    assert target.text == ">=3.3,!=3.4,!=3.5"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("setup.cfg", "[options]\ninstall_requires =\n    numpy\n    triton>=3.4\n"),
        ("setup.cfg", "[options.extras_require]\ngpu =\n    triton>=3.4\n"),
        ("setup.py", "from setuptools import setup\nsetup(name='x', install_requires=['numpy', 'triton>=3.4'])\n"),
        ("setup.py", "setup(extras_require={'gpu': ['triton>=3.4'], 'npu': ['triton==2.0.0']})\n"),
        ("requirements.txt", "numpy\n# triton==2.0\ntriton>=3.4  # newer\n"),
        ("requirements-gpu.txt", "triton>=3.4\n"),
        ("PKG-INFO", "Name: x\nRequires-Dist: triton>=3.4\n"),
        ("x-1.0.dist-info/METADATA", "Name: x\nRequires-Dist: triton (>=3.4) ; extra == 'gpu'\n"),
    ],
)
def test_other_files_are_read_too(tmp_path: Path, name: str, text: str) -> None:
    target = target_of(tmp_path, name, text)
    assert target is not None
    assert (target.text, target.asked_in) == (">=3.4", name.rpartition("/")[2])


@pytest.mark.parametrize("text", ["setup(", "setup(install_requires=read())", "setup(extras_require=3)"])
def test_a_setup_that_cannot_be_read_says_nothing(tmp_path: Path, text: str) -> None:
    assert target_of(tmp_path, "setup.py", text) is None


def test_of_a_folder_of_installed_packages_none_is_the_project(tmp_path: Path) -> None:
    assert target_of(tmp_path, "x-1.0.dist-info/METADATA", "Requires-Dist: triton>=3.4\n") is not None
    assert target_of(tmp_path, "y-1.0.dist-info/METADATA", "Requires-Dist: triton>=3.6\n") is None


def test_a_part_of_a_package_asks_for_what_the_package_does(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    assert target_of(tmp_path, "setup.py", "setup(install_requires=['triton>=3.4'])") == asked_target(tmp_path / "part")
    (tmp_path / "part" / ".git").mkdir()
    assert asked_target(tmp_path / "part") is None


@pytest.mark.parametrize("text", ["", "[project", "[project]\ndependencies = 3\n", "project = 3\n", "\x00"])
def test_a_file_that_is_no_project_says_nothing(tmp_path: Path, text: str) -> None:
    assert target_of(tmp_path, "pyproject.toml", text) is None


KERNEL = """
import triton
import triton.language as tl


@triton.jit
def kernel(out, n):
    flag = 0 < n < 4
    tl.store(out, flag)
"""


def test_the_project_of_a_file_decides_unless_the_configuration_does(tmp_path: Path) -> None:
    path = tmp_path / "kernel.py"
    path.write_text(KERNEL, encoding="utf-8")

    def chained(config: Config) -> list[str]:
        return [finding.message for finding in check([path], config, jobs=1).findings if finding.code == "TAC107"]

    assert "target >=3.2" in chained(Config(tmp_path))[0]
    (tmp_path / "pyproject.toml").write_text(project("triton>=3.9"), encoding="utf-8")
    assert chained(Config(tmp_path)) == []
    assert "target ==3.8" in chained(Config(tmp_path, target_triton="==3.8"))[0]


def test_a_target_of_releases_is_written_as_a_specifier_that_admits_them() -> None:
    for versions in (KNOWN, KNOWN[3:6], KNOWN[2:3], (KNOWN[0], KNOWN[4], KNOWN[-1])):
        target = Target.of(versions, "here")
        assert Target.parse(target.text).versions == versions
