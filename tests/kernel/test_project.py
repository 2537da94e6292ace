"""Helpers are followed from file to file, whatever those files are."""

from __future__ import annotations

import itertools
import os
import sys
from pathlib import Path

import pytest

from tritonaudit.kernel.project import Function, Project
from tritonaudit.source.outline import Module, outline

IMPORTS = "import triton\nimport triton.language as tl\n"
HELPER = f"{IMPORTS}\n\n@triton.jit\ndef helper(x):\n    return x + 1\n"
KERNEL = f"{IMPORTS}\n\n@triton.jit\ndef kernel(x):\n    tl.store(x, 1)\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project of one package with a helper two folders deep."""
    package = tmp_path / "pkg" / "ops"
    package.mkdir(parents=True)
    (tmp_path / "pyproject.toml").touch()
    (tmp_path / "pkg" / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "helpers.py").write_text(HELPER)
    return tmp_path


def caller(root: Path, imports: str, place: str = "pkg/ops/caller.py") -> Function:
    path = root / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{imports}\n{KERNEL}")
    module = outline(str(path), path.read_text())
    return Function(module, module.jit[0])


def found(root: Path, imports: str, name: str = "helper", place: str = "pkg/ops/caller.py") -> str | None:
    function = Project(root).resolve(caller(root, imports, place), name)
    if function is None:
        return None
    return f"{Path(function.module.path).relative_to(root).as_posix()}:{function.jit.name}"


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("from .helpers import helper", "helper"),
        ("from .helpers import helper as fast", "fast"),
        ("from . import helpers", "helpers.helper"),
        ("from . import helpers as h", "h.helper"),
        ("from ..ops.helpers import helper", "helper"),
        ("from ..ops import helpers", "helpers.helper"),
        ("from pkg.ops.helpers import helper", "helper"),
        ("from pkg.ops import helpers", "helpers.helper"),
        pytest.param(
            "import pkg.ops.helpers",
            "pkg.ops.helpers.helper",
        ),
        ("import pkg.ops.helpers as h", "h.helper"),
        ("from helpers import helper", "helper"),
        ("try:\n    from .helpers import helper\nexcept ImportError:\n    pass", "helper"),
        ("from . import helpers\nfast = helpers.helper", "fast"),
        ("from .helpers import *", "helper"),
        ("from .nothing import *\nfrom .helpers import *", "helper"),
    ],
)
def test_an_import_leads_to_the_helper(root: Path, imports: str, name: str) -> None:
    assert found(root, imports, name) == "pkg/ops/helpers.py:helper"


@pytest.mark.parametrize(
    "place",
    ["pkg/caller.py", "caller.py", "pkg/other/deep/caller.py", "tests/caller.py"],
)
def test_an_absolute_import_starts_at_a_folder_above(root: Path, place: str) -> None:
    assert found(root, "from pkg.ops.helpers import helper", place=place) == "pkg/ops/helpers.py:helper"


def test_a_function_of_the_same_file_comes_first(root: Path) -> None:
    text = f"from .helpers import helper\n{HELPER}"
    path = root / "pkg" / "ops" / "own.py"
    path.write_text(text)
    module = outline(str(path), text)
    function = Project(root).resolve(Function(module, module.jit[0]), "helper")
    assert function is not None
    assert function.module is module


def test_re_exports_are_followed(root: Path) -> None:
    (root / "pkg" / "ops" / "__init__.py").write_text("from .helpers import helper\n")
    (root / "pkg" / "__init__.py").write_text("from .ops import helper as fast\n")
    assert found(root, "from pkg import fast", "fast") == "pkg/ops/helpers.py:helper"


@pytest.mark.parametrize(
    ("imports", "place"), [("from . import helper", "a.py"), ("from .. import helper", "ops/a.py")]
)
def test_a_bare_relative_import_leads_into_the_init_file(root: Path, imports: str, place: str) -> None:
    (root / "pkg" / "__init__.py").write_text(HELPER)
    assert found(root, imports, place=f"pkg/{place}") == "pkg/__init__.py:helper"


def test_a_package_comes_before_a_file_of_its_name(root: Path) -> None:
    (root / "pkg" / "ops.py").write_text(HELPER)
    (root / "pkg" / "ops" / "__init__.py").write_text(HELPER)
    assert found(root, "from pkg.ops import helper", place="caller.py") == "pkg/ops/__init__.py:helper"


def test_a_helper_of_a_package_is_found_in_its_init_file(root: Path) -> None:
    (root / "pkg" / "__init__.py").write_text(HELPER)
    assert found(root, "from pkg import helper") == "pkg/__init__.py:helper"


def test_what_a_name_is_in_the_end_is_known_through_other_files(root: Path) -> None:
    (root / "pkg" / "math.py").write_text(f"{IMPORTS}exp = tl.exp\nif fast:\n    log = tl.math.log\n")
    function = caller(root, "from pkg.math import exp")
    project = Project(root)
    assert project.origin_of(function.module, "pkg.math.exp") == "triton.language.exp"
    assert project.origin_of(function.module, "..math.log") == "triton.language.math.log"
    assert project.origin_of(function.module, "pkg.math.sin") == "pkg.math.sin"
    assert project.origin_of(function.module, "elsewhere.exp") == "elsewhere.exp"


@pytest.mark.parametrize(
    "imports",
    [
        "from .missing import helper",
        "from ....... import helper",
        "from ...............a import helper",
        "from missing.package import helper",
        "import helper",
        "from . import helper",
        "from .ops import *",
        "",
    ],
)
def test_what_leads_nowhere_is_none(root: Path, imports: str) -> None:
    assert found(root, imports) is None


@pytest.mark.parametrize(
    "data",
    [
        b"import triton\ndef (:\n",
        b"import triton  # \xff\n",
        "import triton\n".encode("utf-16"),
        b"import triton\nx = '\0'\n",
        b"import triton\nx = " + b"(" * 2000 + b")" * 2000,
        b"",
    ],
    ids=["syntax", "bytes", "utf-16", "null byte", "deep", "empty"],
)
def test_a_broken_file_is_none(root: Path, data: bytes) -> None:
    (root / "pkg" / "ops" / "helpers.py").write_bytes(data)
    assert found(root, "from .helpers import helper") is None


def test_a_folder_of_that_name_is_none(root: Path) -> None:
    (root / "pkg" / "ops" / "folder.py").mkdir()
    assert found(root, "from .folder import helper") is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs fifos")
def test_a_fifo_is_not_read(root: Path) -> None:
    os.mkfifo(root / "pkg" / "ops" / "pipe.py")
    assert found(root, "from .pipe import helper") is None


@pytest.mark.skipif(sys.platform == "win32", reason="needs links")
def test_a_link_in_a_circle_is_none(root: Path) -> None:
    (root / "pkg" / "ops" / "loop.py").symlink_to("loop.py")
    assert found(root, "from .loop import helper") is None


def test_imports_in_a_circle_end(root: Path) -> None:
    (root / "pkg" / "ops" / "a.py").write_text("import triton\nfrom .b import helper\n")
    (root / "pkg" / "ops" / "b.py").write_text("import triton\nfrom .a import helper\n")
    assert found(root, "from .a import helper") is None
    function = caller(root, "")
    assert Project(root).origin_of(function.module, ".a.helper").endswith("helper")


def test_files_above_the_project_are_not_looked_at(root: Path) -> None:
    (root / "outside.py").write_text(HELPER)
    function = caller(root, "from outside import helper")
    assert Project(root / "pkg").resolve(function, "helper") is None
    assert Project(root).resolve(function, "helper") is not None


def test_what_is_found_does_not_depend_on_the_order(root: Path) -> None:
    (root / "pkg" / "__init__.py").write_text("from .ops import helper as fast\n")
    (root / "pkg" / "ops" / "__init__.py").write_text("from .helpers import helper\n")
    imports = "from pkg import fast\nfrom .helpers import helper\nfrom .missing import gone\n"
    function = caller(root, imports)
    answers = set()
    for names in itertools.permutations(("fast", "helper", "gone")):
        project = Project(root)
        known = {name: project.resolve(function, name) for name in names}
        answers.add(tuple(known[n].module.path if known[n] else None for n in ("fast", "helper", "gone")))  # type: ignore[union-attr]
    assert len(answers) == 1


def test_what_was_let_go_of_is_found_again(root: Path) -> None:
    function, project = caller(root, "from .helpers import helper"), Project(root)
    before = project.resolve(function, "helper")
    project.forget(function.module)
    after = project.resolve(function, "helper")
    assert before is not None
    assert after is not None
    assert before.module is after.module


# -- trees ---------------------------------------------------------------------------------------------------------


def module(text: str) -> Module:
    return outline("m.py", text)


def test_a_tree_is_made_once(root: Path) -> None:
    project, kernel = Project(root), module(KERNEL)
    tree = project.tree(Function(kernel, kernel.jit[0]))
    assert tree is not None
    assert project.tree(Function(kernel, kernel.jit[0])) is tree


def test_a_function_without_a_tree_has_a_reason(root: Path) -> None:
    project, kernel = Project(root), module(f"{IMPORTS}@triton.jit\ndef kernel(x):\n    y = {'x and ' * 1500}x\n")
    function = Function(kernel, kernel.jit[0])
    assert project.tree(function) is None
    assert project.refusal(function) == "nested too deeply to be analysed"


# -- launches and callers in other files ---------------------------------------------------------------------------


def launches(root: Path, text: str, place: str = "pkg/run.py") -> list[str]:
    """The launches of the helper, which is a kernel here, that another file holds."""
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    (root / place).write_text(text)
    module = outline(str(root / "pkg/ops/helpers.py"), HELPER)
    found = Project(root).launches(Function(module, module.jit[0]))
    assert all(launch.module.path == str(root / place) for launch in found)
    return [f"{launch.call.lineno}: x={launch.arguments['x'].id}" for launch in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "text",
    [
        "from .ops.helpers import helper\nhelper[(1,)](y)\n",
        "from pkg.ops.helpers import helper\nhelper[(1,)](y)\n",
        "from .ops.helpers import helper as fast\nfast[(1,)](y)\n",
        "from .ops import helpers\nhelpers.helper[(1,)](x=y)\n",
        "from torch import wrap_triton; from .ops.helpers import helper\nwrap_triton(helper)[(1,)](y)\n",
        "def run(y):\n    from .ops.helpers import helper; helper[(1,)](y)\n",
    ],
)
def test_a_launch_in_another_file_is_found(root: Path, text: str) -> None:
    assert launches(root, text) == ["2: x=y"]


def test_it_is_found_through_a_file_that_imports_it_to_pass_it_on(root: Path) -> None:
    (root / "pkg/ops/__init__.py").write_text("from .helpers import helper\n")
    assert launches(root, "from .ops import helper\nhelper[(1,)](y)\n", "pkg/deep/down/run.py") == []
    assert launches(root, "from ...ops import helper\nhelper[(1,)](y)\n", "pkg/deep/down/run.py") == ["2: x=y"]


@pytest.mark.parametrize(
    "text",
    [
        "from .others import helper\nhelper[(1,)](y)\n",
        "def helper(x): pass\nhelper[(1,)](y)\n",
        f"{IMPORTS}@triton.jit\ndef helper(x):\n    pass\n\nhelper[(1,)](y)\n",
        "from .ops.helpers import helper\nhelper(y)\n",
        "from .ops.helpers import (helper\nhelper[(1,)](y)\n",
    ],
)
def test_another_kernel_of_its_name_is_not_it(root: Path, text: str) -> None:
    assert launches(root, text) == []


def test_launches_of_its_own_file_are_enough(root: Path) -> None:
    (root / "pkg/run.py").write_text("from .ops.helpers import helper\nhelper[(1,)](y)\n")
    module = outline(str(root / "pkg/ops/helpers.py"), f"{HELPER}\nhelper[(2,)](z)\n")
    (launch,) = Project(root).launches(Function(module, module.jit[0]))
    assert launch.module is module


def test_a_name_that_very_many_files_use_is_not_followed(root: Path) -> None:
    for number in range(51):
        (root / f"pkg/run_{number}.py").write_text("from .ops.helpers import helper\nhelper[(1,)](y)\n")
    module = outline(str(root / "pkg/ops/helpers.py"), HELPER)
    assert Project(root).users(Function(module, module.jit[0])) == []


def test_a_kernel_calls_the_helper_of_its_own_function(root: Path) -> None:
    path = root / "pkg" / "tests.py"
    inner = "".join(
        f"def test_{n}():\n    @triton.jit\n    def helper(x):\n        return x + {n}\n\n"
        f"    @triton.jit\n    def kernel(x):\n        tl.store(x, helper(1))\n\n\n"
        for n in (1, 2)
    )
    path.write_text(f"{HELPER}\n\n{inner}{KERNEL}")
    module = outline(str(path), path.read_text())
    project = Project(root)
    called = {
        jit.qualname: found.jit.qualname
        for jit in module.jit
        if jit.name == "kernel" and (found := project.resolve(Function(module, jit), "helper")) is not None
    }
    assert called == {"test_1.kernel": "test_1.helper", "test_2.kernel": "test_2.helper", "kernel": "helper"}
