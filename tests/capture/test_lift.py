"""Kernels taken out of their projects: what is kept stays where it was, and nothing else is."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from tests.capture.projects import IMPORTS, lifted, write
from tritonaudit.capture.lift import Lifted

KERNEL = """\
@triton.jit
def kernel(x_ptr, BLOCK: tl.constexpr):
    offs = tl.arange(0, BLOCK)
    tl.store(x_ptr + offs, {value})
"""
HOST = """
raise SystemExit("the module was run")


def run(x):
    import accelerator
    kernel[(1,)](x, BLOCK=64)
"""


def project(root: Path, before: str = "", value: str = "0", files: Mapping[str, str] = MappingProxyType({})) -> Path:
    """A project with a kernel that stores `value`, in a file with something before it and host code after it."""
    return write(root, {"ops.py": before + "\n\n" + KERNEL.format(value=value) + HOST, **files})


def text_of(found: Lifted, name: str = "ops.py") -> str:
    return next(file.text for file in found.files if Path(file.path).name == name)


def kept(found: Lifted, name: str = "ops.py") -> set[str]:
    """The names that the lifted text of a file gives a meaning, imports aside."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(text_of(found, name))):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return names - {"offs"}


def test_nothing_but_the_kernel_is_kept_and_it_stays_where_it_is(tmp_path: Path) -> None:
    root = project(tmp_path, "SIZE = 3\n\n\ndef other():\n    return SIZE\n")
    found = lifted(root)
    assert kept(found) == {"kernel"}
    original = (root / "ops.py").read_text().split("\n")
    lines = text_of(found).split("\n")
    assert len(lines) == len(original)
    assert [line for line, before in zip(lines, original, strict=True) if line and line != before] == []
    assert lines[original.index("def kernel(x_ptr, BLOCK: tl.constexpr):")].startswith("def kernel(")


@pytest.mark.parametrize(
    ("before", "value", "names"),
    [
        ("SCALE = tl.constexpr(2)", "SCALE", {"SCALE"}),
        ("SCALE: tl.constexpr = 2", "SCALE", set()),
        ("HALF = 2\nSCALE = tl.constexpr(HALF * 2)", "SCALE", {"HALF", "SCALE"}),
        ("exp = tl.exp", "exp(1.0)", {"exp"}),
        ("@triton.jit\ndef twice(x):\n    return x * 2", "twice(1)", {"twice"}),
        (
            "@triton.jit\ndef once(x):\n    return x\n\n@triton.jit\ndef twice(x):\n    return once(x)",
            "twice(1)",
            {"once", "twice"},
        ),
        ("@triton.constexpr_function\ndef half(n):\n    return n // 2", "half(BLOCK)", {"half"}),
        ("class Mode:\n    FAST = tl.constexpr(1)", "Mode.FAST", {"Mode"}),
        ("TABLE = [1]\nTABLE.append(2)", "tl.constexpr(len(TABLE))", {"TABLE"}),
        ("helpers = make(3)\nuseless = make(4)\n\ndef make(n):\n    return n", "helpers", {"helpers", "make"}),
    ],
)
def test_what_it_needs_of_its_file_is_kept(tmp_path: Path, before: str, value: str, names: set[str]) -> None:
    assert kept(lifted(project(tmp_path, before, value))) - {"FAST"} == {"kernel", *names}


@pytest.mark.parametrize(
    "before",
    [
        "if hasattr(tl, 'exp'):\n    value = tl.constexpr(1)\nelse:\n    value = tl.constexpr(2)",
        "if not hasattr(tl, 'exp'):\n    other = 1\nelif True:\n    value = tl.constexpr(1)\nelse:\n    value = 2",
        "try:\n    from accelerator import value\nexcept ImportError:\n    value = tl.constexpr(1)",
    ],
)
def test_conditions_around_what_it_needs_are_kept_with_both_arms(tmp_path: Path, before: str) -> None:
    names: dict[str, object] = {"hasattr": lambda *_: True, "tl": type("tl", (), {"constexpr": int})}
    text = text_of(lifted(project(tmp_path, before, "value")))
    tree = ast.parse(text)
    tree.body = [node for node in tree.body if isinstance(node, (ast.If, ast.Try))]
    exec(compile(tree, "ops.py", "exec"), names)
    assert names["value"] == 1
    assert "accelerator" not in text
    assert "other" not in text


HELPER = "@triton.jit\ndef helper(x):\n    return x + ONE\n\n\nONE = tl.constexpr(1)\nraise SystemExit\n"


@pytest.mark.parametrize(
    ("before", "value", "files"),
    [
        ("from helpers import helper", "helper(1)", {"helpers.py": HELPER}),
        ("from helpers import helper as h", "h(1)", {"helpers.py": HELPER}),
        ("import helpers", "helpers.helper(1)", {"helpers.py": HELPER}),
        ("import pkg.helpers as h", "h.helper(1)", {"pkg/__init__.py": "", "pkg/helpers.py": HELPER}),
        ("from pkg import helpers", "helpers.helper(1)", {"pkg/__init__.py": "", "pkg/helpers.py": HELPER}),
        ("from pkg import helper", "helper(1)", {"pkg/__init__.py": "from .deep import helper", "pkg/deep.py": HELPER}),
        ("from pkg import helper", "helper(1)", {"pkg/__init__.py": "from .deep import *", "pkg/deep.py": HELPER}),
        ("from helpers import *", "helper(1)", {"helpers.py": HELPER}),
        (
            "try:\n    from helpers import helper\nexcept ImportError:\n    helper = None",
            "helper(1)",
            {"helpers.py": HELPER},
        ),
    ],
)
def test_helpers_of_other_files_come_with_it(tmp_path: Path, before: str, value: str, files: dict[str, str]) -> None:
    found = lifted(project(tmp_path, before, value, files))
    (place,) = [Path(file.path).name for file in found.files if "def helper" in file.text]
    assert kept(found, place) == {"helper", "ONE"}
    assert all("SystemExit" not in file.text for file in found.files)
    names = {file.name for file in found.files}
    for file in found.files:
        for node in ast.walk(ast.parse(file.text)):
            if isinstance(node, ast.ImportFrom):
                assert node.module in {*names, "triton", "triton.language", "torch"}


def test_a_constant_of_a_file_without_imports_comes_with_it(tmp_path: Path) -> None:
    found = lifted(
        project(tmp_path, "from sizes import SCALE", "SCALE", {"sizes.py": "# bare\nSCALE = 2\nOTHER = 3\n"})
    )
    assert kept(found, "sizes.py") == {"SCALE"}


def test_what_comes_from_outside_the_checkout_is_said(tmp_path: Path) -> None:
    found = lifted(project(tmp_path, "from nowhere import SCALE", "SCALE"))
    assert found.assumptions == ("`SCALE` is imported from outside the checkout",)
    assert "SCALE = __stand_in__('nowhere.SCALE')" in text_of(found)
    assert "import nowhere" not in text_of(found)


def test_triton_from_a_module_of_the_projects_is_triton(tmp_path: Path) -> None:
    before = "# bare\nfrom vendor.compat import tl, triton\n"
    text = text_of(lifted(project(tmp_path, before)))
    assert "import triton.language as tl" in text
    assert "vendor" not in text


NESTED = {
    "function": ("def make():\n    SCALE = tl.constexpr(3)\n{kernel}\n    return kernel\n", "SCALE"),
    "default": ("def make(SCALE=tl.constexpr(3)):\n    '''Makes it.'''\n{kernel}\n    return kernel\n", "SCALE"),
    "class": ("class Op:\n    name = 'op'\n\n{kernel}\n", "0"),
    "if": ("if something():\n    other = 1\n{kernel}\n", "0"),
    "else": ("if something():\n    other = 1\nelse:\n{kernel}\n", "0"),
    "elif": ("if something():\n    other = 1\nelif more():\n    other = 2\nelse:\n{kernel}\n", "0"),
    "try": ("try:\n    import accelerator\n{kernel}\nexcept ImportError:\n    kernel = None\n", "0"),
    "with": ("with something():\n{kernel}\n", "0"),
}


@pytest.mark.parametrize("case", NESTED)
def test_a_nested_kernel_is_defined_where_it_can_be_run(tmp_path: Path, case: str) -> None:
    outer, value = NESTED[case]
    inner = "".join(f"    {line}\n" for line in KERNEL.format(value=value).splitlines())
    root = write(tmp_path, {"ops.py": outer.format(kernel=inner)})
    tree = ast.parse(text_of(lifted(root)))
    tree.body = [node for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))]
    names: dict[str, object] = {"tl": type("tl", (), {"constexpr": int}), "triton": type("triton", (), {"jit": int})}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    exec(compile(tree, "ops.py", "exec"), names)
    assert callable(names["kernel"])
    assert names.get("SCALE", 3) == 3
    original = (root / "ops.py").read_text().split("\n")
    assert original.index("    def kernel(x_ptr, BLOCK: tl.constexpr):") + 1 == names["kernel"].__code__.co_firstlineno  # type: ignore[attr-defined]


def test_what_nothing_gives_is_said(tmp_path: Path) -> None:
    inner = "".join(f"    {line}\n" for line in KERNEL.format(value="SCALE").splitlines())
    found = lifted(write(tmp_path, {"ops.py": f"def make(SCALE):\n{inner}\n    return kernel\n"}))
    assert found.assumptions == ("`SCALE` is a parameter of `make`, which nothing gives",)


@pytest.mark.parametrize(
    ("decorator", "is_kept"),
    [
        ("@triton.autotune([triton.Config({'BLOCK': 64})], key=[])", True),
        ("@triton.heuristics({'BLOCK': lambda args: 64})", True),
        ("@cached_autotune(configs=[triton.Config({'BLOCK': 64})], key=[])", True),
        ("@entry()", False),
        ("@guard.inputs(strict=True)", False),
    ],
)
def test_decorators_that_cannot_be_had_are_left_out(tmp_path: Path, decorator: str, is_kept: bool) -> None:
    before = "from vendor import cached_autotune, entry, guard\n\n\n" + decorator
    root = write(tmp_path, {"ops.py": f"{before}\n{KERNEL.format(value='0')}"})
    found = lifted(root)
    assert (decorator in text_of(found)) is is_kept
    assert any("left out" in sentence for sentence in found.assumptions) is not is_kept
    assert "vendor" not in text_of(found)


def test_configs_come_with_what_they_are_made_of(tmp_path: Path) -> None:
    before = """\
    from vendor.tuning import cached_autotune

    SIZES = [32, 64]
    WARPS = [4]


    def configs():
        from vendor.tuning import known
        return [triton.Config({'BLOCK': size}) for size in SIZES]


    def unused():
        return SIZES


    @cached_autotune(configs=configs(), key=['n'])
    """
    root = write(tmp_path, {"ops.py": "\n".join(line[4:] for line in before.split("\n")) + KERNEL.format(value="0")})
    found = lifted(root)
    assert kept(found) == {"SIZES", "configs", "kernel"}
    assert "vendor" not in text_of(found)


def test_a_kernel_that_is_made_after_its_definition_is_made_so(tmp_path: Path) -> None:
    after = """\
    def kernel(x_ptr, BLOCK: tl.constexpr):
        tl.store(x_ptr, BLOCK)


    kernel = triton.jit(kernel)
    kernel = triton.heuristics({"BLOCK": lambda args: 64})(kernel)
    other = kernel
    """
    text = text_of(lifted(write(tmp_path, {"ops.py": after})))
    assert "triton.jit(kernel)" in text
    assert "triton.heuristics" in text
    assert "other" not in text


def test_characters_wider_than_a_byte_move_nothing(tmp_path: Path) -> None:
    root = project(tmp_path, "SCALE = tl.constexpr(2)  # é\n", "SCALE + len('éèê')")
    original = (root / "ops.py").read_text().split("\n")
    lines = text_of(lifted(root)).split("\n")
    place = original.index("SCALE = tl.constexpr(2)  # é")
    assert lines[place] == "SCALE = tl.constexpr(2)"
    assert next(line for line in lines if "éèê" in line) in original


@pytest.mark.parametrize(
    "line", ["A = 1; SCALE = 2; B = 3", "SCALE = 2; A = 1", "A = 1; B = 3; SCALE = A + 1", "A = 1; B = 3; SCALE = 2"]
)
def test_statements_may_share_a_line(tmp_path: Path, line: str) -> None:
    text = text_of(lifted(project(tmp_path, line, "SCALE")))
    names: dict[str, object] = {}
    exec("\n".join(text.split("\n")[len(IMPORTS.split("\n")) - 1 :][:1]), names)
    assert names["SCALE"] == 2
    assert "B" not in names


def test_nothing_of_it_needs_torch_or_triton() -> None:
    names = ("lift", "infer", "passed", "uses", "alternatives")
    imports = "; ".join(f"import tritonaudit.capture.{name}" for name in names)
    check = "import sys; assert not {'torch', 'triton'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"{imports}; {check}"], check=True, cwd=Path(__file__).parents[2])
