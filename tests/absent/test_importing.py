"""Modules of a project that import what is not there, as a worker imports them."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from tritonaudit.absent import importer  # noqa: E402
from tritonaudit.absent.said import newly_said  # noqa: E402
from tritonaudit.absent.stand_in import DependsOnStandIn, origin_of  # noqa: E402
from tritonaudit.execute.blame import depends_on_stand_in, described  # noqa: E402
from tritonaudit.subject.execute import LoadError, run_file  # noqa: E402
from tritonaudit.subject.inputs import call  # noqa: E402

KERNEL = """
@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    tl.store(x_ptr + tl.arange(0, BLOCK), 0.0, mask=tl.arange(0, BLOCK) < n)
"""
HEAD = "import torch\nimport triton\nimport triton.language as tl\n"


@pytest.fixture(autouse=True)
def _as_in_a_worker() -> Iterator[None]:
    finders, path, modules = list(sys.meta_path), list(sys.path), set(sys.modules)
    importer.install()
    newly_said()
    yield
    sys.meta_path[:], sys.path[:] = finders, path
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def project(root: Path, files: dict[str, str]) -> Path:
    (root / "pyproject.toml").touch()
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(textwrap.dedent(text))
    return root


def imported(root: Path, text: str, **files: str) -> ModuleType:
    """The module `pkg.ops` of that text, in a package of which some files may be given."""
    root = project(root, {"pkg/__init__.py": "", **{f"pkg/{name}.py": file for name, file in files.items()}})
    (root / "pkg" / "ops.py").write_text(HEAD + textwrap.dedent(text))
    return run_file(root / "pkg" / "ops.py")


# -- what a stand-in can do --------------------------------------------------------------------------------------------


def test_absent_classes_are_inherited_from_and_annotate(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        """
        from abc import ABC
        from dataclasses import dataclass
        from typing import List, Optional

        from absent.config import BaseConfig, Kind
        import absent

        class Config(BaseConfig, ABC, extra="forbid"):
            block: int = 64

        class Layer(torch.nn.Module, absent.mixins.Saved):
            pass

        @dataclass
        class Options:
            kind: Optional[Kind] = None
            kinds: List[Kind] | None = None

        def pick(kind: Kind | None, many: dict[str, Kind]) -> "absent.Result[int]":
            return kind

        made = Config(block=128)
        """,
    )
    assert module.made.block == 128
    assert module.Options().kinds is None
    assert isinstance(module.Layer(), torch.nn.Module)
    assert newly_said() == ("`absent` is not installed, and stood in for",)


def test_absent_decorators_give_the_function_and_mark_it(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        """
        from absent import register, traced

        @traced
        @register("scale", version=2)
        def scale(x):
            return x * 2

        def plain(x):
            return x * 2
        """,
    )
    assert module.scale(3) == 6
    assert call(module.plain, [3], {}, gradients=False) == 6
    with pytest.raises(DependsOnStandIn, match=r"it depends on the stand-in for `absent\.traced`"):
        call(module.scale, [3], {}, gradients=False)


def test_annotations_of_every_form_can_name_what_is_absent(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        """
        from typing import Callable, Literal, Optional, Union

        from absent import Kind

        def f(a: Optional[Kind], b: Union[Kind, int], c: list[Kind] | None, d: Callable[[Kind], Kind], e: "Kind"):
            return 1
        """,
    )
    assert module.f(1, 2, 3, 4, 5) == 1


def test_absent_dataclasses_are_made(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        """
        from absent.dataclasses import dataclass

        @dataclass
        class Plain:
            block: int = 64

        @dataclass(frozen=True)
        class Frozen:
            block: int = 64
        """,
    )
    assert (module.Plain(32).block, module.Frozen(block=16).block) == (32, 16)


def test_an_absent_package_is_taken_for_its_newest_release(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        """
        import absent
        from packaging.version import Version

        is_new = Version(absent.__version__) >= Version("4.40")
        is_old = absent.__version__ < "2"
        """,
    )
    assert module.is_new
    assert not module.is_old


def test_everything_of_an_absent_module_is_what_the_file_reads(tmp_path: Path) -> None:
    module = imported(tmp_path, "from absent.names import *\n\ndef f(x):\n    return helper(x, LIMIT)\n")
    assert origin_of(module.helper) == "absent.names.helper"
    assert origin_of(module.LIMIT) == "absent.names.LIMIT"


def test_absent_errors_can_be_caught_and_nothing_is_an_instance(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        """
        import absent

        def caught():
            try:
                raise ValueError
            except absent.AbsentError:
                return "absent"
            except ValueError:
                return isinstance(3, absent.Array)
        """,
    )
    assert module.caught() is False


@pytest.mark.parametrize(
    "use",
    [
        "1 if absent.flag else 2",
        "absent.SIZE + 1",
        "len(absent.names)",
        "[one for one in absent.names]",
        "absent.kind == 'a'",
        "absent.rearrange(x, 'a b -> (a b)')",
        "x + absent.scale",
        "torch.empty(absent.SIZE)",
        "torch.nn.functional.silu(absent.make())",
    ],
)
def test_what_asks_for_the_value_of_a_stand_in_is_no_result(tmp_path: Path, use: str) -> None:
    module = imported(tmp_path, f"import absent\n\ndef wrapper(x):\n    return {use}\n")
    with pytest.raises(DependsOnStandIn) as caught:
        call(module.wrapper, [torch.ones(2, 2)], {}, gradients=False)
    assert depends_on_stand_in(caught.value)
    assert described(caught.value).startswith("depends on the stand-in for `absent.")


# -- what is left to the user's code -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import absent\n    there = True\nexcept ImportError:\n    there = False\n",
        "from importlib.util import find_spec\nthere = find_spec('absent') is not None\n",
        "import contextlib\nthere = False\nwith contextlib.suppress(ImportError):\n    there = __import__('absent')\n",
        "try:\n    from pkg import other\n    there = True\nexcept (ImportError, OSError):\n    there = False\n",
    ],
)
def test_code_that_is_prepared_for_the_absence_is_left_to_itself(tmp_path: Path, text: str) -> None:
    module = imported(tmp_path, text, other="from absent.deep import thing\n")
    assert module.there is False
    assert newly_said() == ()


def test_who_only_says_what_to_install_is_not_prepared(tmp_path: Path) -> None:
    text = "try:\n    import absent\nexcept ImportError as e:\n    raise ImportError('pip install absent') from e\n"
    assert origin_of(imported(tmp_path, text).absent) == "absent"


def test_what_an_installed_package_looks_for_is_not_stood_in_for(tmp_path: Path) -> None:
    module = imported(tmp_path, "import pydoc\nfound = pydoc.safeimport('absent')\n")
    assert module.found is None


def test_a_name_that_the_project_itself_does_not_have_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(LoadError, match="cannot import name 'typo'") as caught:
        imported(tmp_path, "from pkg.other import typo\n", other="right = 1\n")
    assert caught.value.line == 4


def test_a_module_that_refuses_the_device_is_reported_as_it_is(tmp_path: Path) -> None:
    text = "if torch.cuda.device_count() < 1000:\n    raise RuntimeError('needs a thousand GPUs')\n"
    with pytest.raises(LoadError, match="RuntimeError: needs a thousand GPUs") as caught:
        imported(tmp_path, f"import absent\n{text}")
    assert caught.value.line == 6


# -- what is left out --------------------------------------------------------------------------------------------------


def test_of_a_package_that_fails_the_module_is_imported_all_the_same(tmp_path: Path) -> None:
    root = project(
        tmp_path,
        {
            "pkg/__init__.py": "before = 1\nfrom pkg.driver import connect\nconnection = connect()\nafter = 2\n",
            "pkg/driver.py": "def connect():\n    raise RuntimeError('no such driver')\n",
            "pkg/ops.py": f"{HEAD}from pkg import after, before, connection\n{KERNEL}",
        },
    )
    module = run_file(root / "pkg" / "ops.py")
    assert (module.before, module.after, origin_of(module.connection)) == (1, 2, "pkg.connection")
    assert isinstance(module.kernel, triton.JITFunction)
    (sentence,) = newly_said()
    assert sentence.endswith(
        "pkg/__init__.py:3: `connection` is stood in for, since it gives RuntimeError: no such driver"
    )


def test_a_configuration_that_is_not_there_is_left_out(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        f"""
        if True:
            with open("/nowhere/device.json") as file:
                settings = file.read()
            block = 64
        wide = settings == "wide"
        {textwrap.indent(KERNEL, " " * 8)}
        """,
    )
    assert module.block == 64
    assert (origin_of(module.settings), origin_of(module.wide)) == ("pkg.ops.settings", "pkg.ops.settings")
    assert isinstance(module.kernel, triton.JITFunction)
    first, second = newly_said()
    assert "`file` and `settings` are stood in for, since it gives FileNotFoundError" in first
    assert second.endswith("pkg/ops.py:9: left out, for what is asked of the stand-in for `pkg`")


def test_a_vendors_module_gives_torch_its_device(tmp_path: Path) -> None:
    try:
        module = imported(
            tmp_path,
            """
            import torch_npu

            CORES = torch.npu.get_device_properties(0).cores
            IS_LARGE = CORES > 20

            def device():
                return torch.device("cpu")
            """,
        )
    finally:
        vars(torch).pop("npu", None)
    assert origin_of(module.IS_LARGE) == "torch_npu.get_device_properties.cores"
    assert str(module.device()) == "cpu"


@pytest.mark.parametrize(
    ("line", "name", "releases"),
    [
        ("from triton.language.math import tanh", "triton.language.math.tanh", "Triton 2.1 to 2.3"),
        ("tanh = tl.libdevice.tanh", "triton.language.libdevice", "Triton 2.0"),
        ("import triton.language.libdevice as tanh", "triton.language.libdevice", "Triton 2.0"),
        ("from triton.language.extra.cann import tanh", "triton.language.extra.cann", "another Triton"),
    ],
)
def test_a_name_of_another_triton_is_said_to_be_one(tmp_path: Path, line: str, name: str, releases: str) -> None:
    module = imported(tmp_path, f"{line}\n{KERNEL}")
    assert isinstance(module.kernel, triton.JITFunction)
    assert (origin_of(module.tanh) or "").startswith(name)
    (sentence,) = newly_said()
    assert f"pkg/ops.py:4: written for {releases}" in sentence
    assert f": `{name}` is not in Triton {triton.__version__}" in sentence


def test_a_kernel_loses_a_decorator_that_depends_on_a_stand_in(tmp_path: Path) -> None:
    module = imported(
        tmp_path,
        f"""
        from absent import tuned_configs

        @triton.autotune(configs=[one for one in tuned_configs("store")], key=["n"])
        {textwrap.indent(KERNEL, " " * 8).strip()}
        """,
    )
    assert isinstance(module.kernel, triton.JITFunction)
    assert origin_of(module.kernel) == "absent.tuned_configs"
