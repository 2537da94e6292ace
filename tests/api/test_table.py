"""The table of Triton's names, read from the data in the package."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import tritonaudit.api.table
from tritonaudit.api.table import UNLISTED, Definition, Parameter, table
from tritonaudit.target import KNOWN, Version

DATA = Path(tritonaudit.api.table.__file__).with_name("table.json")


def releases(dotted: str) -> list[Version]:
    return sorted(table().name(dotted).definitions)


def test_it_holds_the_releases_that_the_tool_knows() -> None:
    assert table().releases == KNOWN


def test_it_is_small() -> None:
    assert DATA.stat().st_size < 300_000


@pytest.mark.parametrize(
    ("dotted", "first", "last"),
    [
        ("triton.language.load", (2, 0), (3, 9)),
        ("triton.language.libdevice.tanh", (2, 0), (2, 0)),
        ("triton.language.math.tanh", (2, 1), (2, 3)),
        ("triton.language.extra.libdevice.tanh", (3, 0), (3, 9)),
        ("triton.language.extra.cuda.libdevice.tanh", (3, 0), (3, 9)),
        ("triton.language.gather", (3, 3), (3, 9)),
        ("triton.language.constexpr_function", (3, 4), (3, 4)),
        ("triton.language.tensor.sum", (3, 4), (3, 9)),
        ("triton.language.tensor.reshape", (3, 0), (3, 9)),
        ("triton.ops.matmul", (2, 0), (3, 1)),
        ("triton.set_allocator", (3, 3), (3, 9)),
        ("triton.aggregate", (3, 8), (3, 9)),
    ],
)
def test_a_name_is_there_from_its_first_release_to_its_last(dotted: str, first: Version, last: Version) -> None:
    assert releases(dotted) == [version for version in KNOWN if first <= version <= last]


@pytest.mark.parametrize(
    "name", ["tanh", "pow", "isnan", "relu", "ones", "empty", "mean", "any", "fp32", "float", "bool"]
)
def test_what_other_libraries_have_was_never_there(name: str) -> None:
    assert releases(f"triton.language.{name}") == []


def test_what_is_not_listed_may_be_anything() -> None:
    assert set(table().name("triton.runtime.driver.active.utils").definitions.values()) == {UNLISTED}
    assert set(table().name("torch.nn").definitions.values()) == {UNLISTED}


def test_what_only_raises_is_not_usable() -> None:
    assert table().name("triton.language.make_block_ptr").missing(((3, 6), (3, 7), (3, 9))) == ((3, 9),)


def test_a_signature_is_read() -> None:
    definition = Definition("function", "x; *; ~y=None; z=(0, 1); **options")
    assert definition.parameters == (
        Parameter("x"),
        Parameter("y", "None", keyword_only=True, deprecated=True),
        Parameter("z", "(0, 1)", keyword_only=True),
        Parameter("options", keyword_only=True, star="**"),
    )
    assert definition.signature == "(x, *, y=None, z=(0, 1), **options)"
    assert Definition("value").parameters is None


# -- the Triton that is installed ----------------------------------------------------------------------------------


def installed() -> tuple[ModuleType, Version]:
    triton = pytest.importorskip("triton")
    major, minor = triton.__version__.split(".")[:2]
    return triton, (int(major), int(minor))


MODULES = (
    "triton",
    "triton.language",
    "triton.language.math",
    "triton.language.standard",
    "triton.language.extra.libdevice",
    "triton.language.extra.cuda.libdevice",
    "triton.runtime",
    "triton.testing",
)


@pytest.mark.parametrize("module", MODULES)
def test_the_installed_triton_has_the_names_that_the_table_says(module: str) -> None:
    _, release = installed()
    there = {name for name in vars(importlib.import_module(module)) if not name.startswith("_")}
    listed = set(table().names(module, release))
    assert {name for name in there - listed if not _comes_with_others(module, name)} == set()
    assert {name for name in listed - there if not _is_module(module, name, release)} == set()


def _comes_with_others(module: str, name: str) -> bool:
    """What is no definition of the module's own: modules that other imports have put there."""
    return inspect.ismodule(getattr(importlib.import_module(module), name))


def _is_module(module: str, name: str, release: Version) -> bool:
    return table().name(f"{module}.{name}").definitions[release].kind == "module"


def test_the_installed_triton_takes_the_parameters_that_the_table_says() -> None:
    triton, release = installed()
    compared = 0
    for name, parameters, found in _functions(triton, release):
        own = [p for p in inspect.signature(found).parameters.values() if not p.name.startswith("_")]
        assert [p.name for p in parameters] == [p.name for p in own], name
        has_default = [p.default is not p.empty for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        assert [p.default is not None for p in parameters if not p.star] == has_default, name
        compared += 1
    assert compared > 80


def _functions(triton: ModuleType, release: Version) -> Iterator[tuple[str, tuple[Parameter, ...], object]]:
    for name in table().names("triton.language", release):
        definition = table().name(f"triton.language.{name}").definitions[release]
        if definition.kind in ("builtin", "jit") and definition.parameters is not None:
            found = getattr(triton.language, name)
            yield name, definition.parameters, getattr(found, "fn", found)
