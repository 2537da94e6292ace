"""Results are kept by content, and only good ones come back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tritonaudit.capture.launch import Program
from tritonaudit.compile import cache as module
from tritonaudit.compile.cache import Cache, default_folder
from tritonaudit.compile.facts import AccessKind, Cause, CompileError, LineAccess, Narrow, Resources, Variant
from tritonaudit.compile.installed import triton_version
from tritonaudit.finding import Span

PROGRAM = Program("sm_80", "module {}", (("num_warps", 4), ("extern_libs", (("libdevice", "/x.bc"),))))
ACCESS = LineAccess("/project/kernel.py", Span(7, 9, 7, 10), AccessKind.ASYNC_COPY, ((16, 4), (4, 1)))
VARIANT = Variant(
    "sm_80",
    config="",
    cases=(),
    signature=(),
    resources=Resources(32, 0, 0, 0, 0, shared=16, warps=4, stages=3, occupancy=64, occupancy_of=64),
    accesses=(ACCESS,),
    narrow=(Narrow(ACCESS, 4, 16, Cause.MASK, ("n",)),),
    dots=(("fp16", 1),),
    matrix=("mma.sync",),
    shared_limit=166912,
)
FAILED = Variant("sm_80", "", (), (), error=CompileError("no", "/project/kernel.py", Span(1, 2, 3, 4)))


def entries(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("variant", [VARIANT, FAILED])
def test_what_is_put_comes_back(variant: Variant, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    assert cache.get(PROGRAM) is None
    cache.put(PROGRAM, variant)
    assert cache.get(PROGRAM) == variant
    assert Cache(tmp_path).get(PROGRAM) == variant


@pytest.mark.parametrize(
    "other",
    [
        replace(PROGRAM, ttir="module { }"),
        replace(PROGRAM, target="sm_90"),
        replace(PROGRAM, options=(("num_warps", 8), *PROGRAM.options[1:])),
        replace(PROGRAM, options=PROGRAM.options[:1]),
    ],
)
def test_another_program_is_another_entry(other: Program, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(PROGRAM, VARIANT)
    assert cache.get(other) is None


def test_the_order_of_options_does_not_matter(tmp_path: Path) -> None:
    Cache(tmp_path).put(PROGRAM, VARIANT)
    assert Cache(tmp_path).get(replace(PROGRAM, options=PROGRAM.options[::-1])) == VARIANT


@pytest.mark.parametrize("name", ["_triton", "_version_of_ours"])
def test_another_version_is_another_entry(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(tmp_path).put(PROGRAM, VARIANT)
    monkeypatch.setattr(module, name, lambda: "another")
    assert Cache(tmp_path).get(PROGRAM) is None


def test_what_changes_the_compiler_is_another_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(tmp_path).put(PROGRAM, VARIANT)
    monkeypatch.setenv("TRITON_CACHE_DIR", "/elsewhere")
    assert Cache(tmp_path).get(PROGRAM) == VARIANT
    monkeypatch.setenv("DISABLE_PTXAS_OPT", "1")
    assert Cache(tmp_path).get(PROGRAM) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '"x"', "{}", json.dumps({"target": 1}), "\udcff".encode("utf-8", "replace").decode()],
)
def test_a_corrupt_entry_is_none_and_is_written_anew(text: str, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(PROGRAM, VARIANT)
    (entry,) = entries(tmp_path)
    entry.write_text(text)
    assert cache.get(PROGRAM) is None
    cache.put(PROGRAM, VARIANT)
    assert cache.get(PROGRAM) == VARIANT


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("resources", {"registers": 32}),
        ("accesses", [{"path": "/x"}]),
        ("accesses", {"path": "/x"}),
        ("dots", [["fp16"]]),
        ("dots", [["fp16", "1"]]),
        ("shared_limit", "166912"),
        ("cached", 1),
        ("config", 7),
    ],
)
def test_an_entry_of_another_shape_is_none(field: str, wrong: object, tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put(PROGRAM, VARIANT)
    (entry,) = entries(tmp_path)
    entry.write_text(json.dumps({**json.loads(entry.read_text()), field: wrong}))
    assert cache.get(PROGRAM) is None


def test_entries_appear_whole(tmp_path: Path) -> None:
    Cache(tmp_path).put(PROGRAM, VARIANT)
    assert [path.suffix for path in entries(tmp_path)] == [".json"]


def test_a_folder_that_cannot_be_made_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "below")
    cache.put(PROGRAM, VARIANT)
    assert cache.get(PROGRAM) is None


@pytest.mark.parametrize(
    ("platform", "variable", "expected"),
    [
        ("linux", "TRITONAUDIT_CACHE", "compile"),
        ("win32", "TRITONAUDIT_CACHE", "compile"),
        ("linux", "XDG_CACHE_HOME", "tritonaudit/compile"),
        ("win32", "LOCALAPPDATA", "tritonaudit/compile"),
        ("linux", "HOME", ".cache/tritonaudit/compile"),
        ("darwin", "HOME", "Library/Caches/tritonaudit/compile"),
    ],
)
def test_where_results_are_kept(
    platform: str, variable: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("TRITONAUDIT_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv(variable, str(tmp_path))
    assert default_folder() == tmp_path / expected


def test_looking_up_imports_no_triton(tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from tritonaudit.compile.analyse import analyse_program\n"
        "from tritonaudit.compile.cache import Cache\n"
        "from tests.compile.test_cache import PROGRAM, VARIANT\n"
        "cache = Cache(Path(sys.argv[1])); cache.put(PROGRAM, VARIANT)\n"
        "found = analyse_program(PROGRAM, cache)\n"
        "assert found.cached and found.resources == VARIANT.resources\n"
        "print([name for name in ('triton', 'torch') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_version_of_triton_is_reported_without_importing_it() -> None:
    triton = pytest.importorskip("triton")
    assert triton_version() == triton.__version__
