"""Under which name a file is imported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.subject.modules import import_folders, module_name


def make(root: Path, *files: str, text: str = "") -> None:
    for file in files:
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).write_text(text)


@pytest.mark.parametrize(
    ("files", "path", "root", "name"),
    [
        ((), "ops.py", "", "ops"),
        ((), "a/b/ops.py", "a/b", "ops"),
        (("pkg/__init__.py",), "pkg/ops.py", "", "pkg.ops"),
        (("pkg/__init__.py", "pkg/sub/__init__.py"), "pkg/sub/ops.py", "", "pkg.sub.ops"),
        (("pkg/__init__.py",), "pkg/sub/deep/ops.py", "", "pkg.sub.deep.ops"),
        (("src/pkg/__init__.py",), "src/pkg/ops.py", "src", "pkg.ops"),
        (("pkg/__init__.py",), "pkg/__init__.py", "", "pkg"),
        (("pkg/__init__.py",), "pkg/not-a-name/ops.py", "pkg/not-a-name", "ops"),
        (("__init__.py", "pkg/__init__.py"), "pkg/ops.py", "", "pkg.ops"),
    ],
    ids=["file", "folder", "package", "subpackage", "undeclared", "src", "init", "no name", "project"],
)
def test_a_name(tmp_path: Path, files: tuple[str, ...], path: str, root: str, name: str) -> None:
    make(tmp_path, "pyproject.toml", *files, path)
    found = module_name(tmp_path / path)
    assert (found.root, found.name) == (tmp_path / root, name)
    assert found.is_in_package == ("." in name)


def test_relative_imports_show_packages_that_do_not_say_so(tmp_path: Path) -> None:
    make(tmp_path, "pkg/ops/softmax.py", text="from ..utils import helper\nfrom . import other\n")
    found = module_name(tmp_path / "pkg" / "ops" / "softmax.py")
    assert (found.root, found.name) == (tmp_path, "pkg.ops.softmax")


def test_a_file_that_does_not_parse_has_a_name(tmp_path: Path) -> None:
    make(tmp_path, "ops.py", text="from . import (\n")
    assert module_name(tmp_path / "ops.py").name == "ops"


def test_imports_are_looked_for_in_the_project(tmp_path: Path) -> None:
    make(tmp_path, "pyproject.toml", "src/pkg/__init__.py", "audits/audit_ops.py")
    assert import_folders(tmp_path / "audits" / "audit_ops.py") == (tmp_path / "audits", tmp_path, tmp_path / "src")


def test_without_a_project_there_is_only_the_package(tmp_path: Path) -> None:
    make(tmp_path, "pkg/__init__.py", "pkg/ops.py")
    assert import_folders(tmp_path / "pkg" / "ops.py") == (tmp_path,)
