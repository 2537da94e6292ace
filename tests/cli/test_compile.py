"""`tritonaudit compile`: its options, its exit codes, and how bad usage is answered."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import code, notebook
from tritonaudit.compile.last import last_compiled

Command = Callable[..., Any]

KERNELS = """\
import torch
import triton
import triton.language as tl

from tritonaudit import Subject, Tensor


@triton.jit
def scale_kernel(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, {value}, mask=offsets < n)


def scale(x):
    out = torch.empty_like(x)
    scale_kernel[(triton.cdiv(x.numel(), 1024),)](x, out, x.numel(), BLOCK=1024)
    return out


subject = Subject(scale, inputs=[Tensor("n")], sizes={{"n": [4096]}}, dtypes=["float16"])
"""


def one_line(text: str) -> bool:
    return text.startswith("tritonaudit: ") and text.count("\n") == 1 and text.endswith("\n")


@pytest.fixture
def compiler() -> None:
    for module in ("torch", "triton"):
        pytest.importorskip(module, reason=f"{module} compiles the kernels")


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "audit_scale.py"
    file.write_text(KERNELS.format(value="x * 2"))
    return file


# Notebooks


def test_kernels_of_a_notebook_are_not_compiled(
    tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: None
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "n.ipynb").write_text(notebook(code(KERNELS.format(value="x * 2"))))
    assert (
        "n.ipynb: not analysed: the kernels of a notebook are only read, not compiled or run\n"
        in tritonaudit("compile").out
    )


# Bad usage


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "sm_9O"], "did you mean 'sm_90'?"),
        (["--target", "sm_90,h100"], "there is no target 'h100'"),
        (["--budget", "registres<=1"], "character 1: there is no metric 'registres'; did you mean 'registers'?"),
        (["--budget", ""], "character 1: a limit is missing"),
        (["--against", "gone.json"], "cannot read gone.json"),
        (["--against", "audit_scale.py"], "audit_scale.py is not JSON"),
        (["--output-file", "audit_scale.py"], "would overwrite the source file"),
        (["--jobs", "0"], "--jobs"),
        (["--fail-on", "never"], "never"),
        (["--select", "TAP999"], "no rule"),
    ],
)
def test_bad_usage_is_one_line_and_2(tritonaudit: Command, kernels: Path, arguments: list[str], words: str) -> None:
    before = kernels.read_bytes()
    ran = tritonaudit("compile", kernels, *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert one_line(ran.err)
    assert words in ran.err
    assert kernels.read_bytes() == before


@pytest.mark.parametrize("missing", [("triton",), ("torch",), ("torch", "triton")])
def test_what_is_not_installed_is_said_with_how_to(
    tritonaudit: Command, kernels: Path, monkeypatch: pytest.MonkeyPatch, missing: tuple[str, ...]
) -> None:
    for module in ("torch", "triton"):
        if module in missing:
            monkeypatch.setitem(sys.modules, module, None)  # so that it cannot be imported
        else:
            pytest.importorskip(module, reason=f"{module} compiles the kernels")
    ran = tritonaudit("compile", kernels)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        f"tritonaudit: `tritonaudit compile` needs {' and '.join(missing)}: pip install 'tritonaudit[audit]'\n"
    )


# What it finds


@pytest.fixture
def run(tritonaudit: Command, compiler: None, kernels: Path) -> Command:
    """Compiles the kernels for one target, in one process."""
    return lambda *arguments: tritonaudit("compile", kernels, "--target", "sm_90", "--jobs", "1", *arguments)


@pytest.mark.slow
def test_a_kernel_without_faults_is_0_with_its_table(run: Command, kernels: Path) -> None:
    ran = run()
    assert (ran.code, ran.err) == (0, "")
    assert "scale_kernel  audit_scale.py:9" in ran.out
    assert "No findings in 1 file, 1 kernel." in ran.out
    [last] = last_compiled(kernels)
    assert (last.kernel.name, last.line) == ("scale_kernel", 8)
    assert all(variant.resources is not None for variant in last.kernel.variants)


@pytest.mark.slow
def test_a_broken_budget_is_1_whatever_is_selected(run: Command) -> None:
    for selection in ([], ["--select", "TAM"]):
        ran = run("--budget", "registers<=4", *selection)
        assert ran.code == 1
        assert "TAP306 over-budget" in ran.out
    assert run("--budget", "registers<=4", "--exit-zero").code == 0
    assert run("--budget", "registers<=255,spills=0").code == 0


@pytest.mark.slow
def test_a_kernel_that_does_not_compile_is_1(run: Command, kernels: Path) -> None:
    kernels.write_text(KERNELS.format(value="tl.exp(x)"))
    ran = run("--output-format", "concise")
    assert ran.code == 1
    assert ran.out.startswith("audit_scale.py:12:33: TAC301 [error] `scale_kernel` does not compile on sm_90")


@pytest.mark.slow
def test_an_earlier_report_is_compared_with(run: Command, kernels: Path) -> None:
    assert run("--output-format", "json", "--output-file", "before.json").code == 0
    kernels.write_text("\n\n" + KERNELS.format(value="tl.exp(x.to(tl.float32)) + tl.sin(x.to(tl.float32))"))
    ran = run("--against", "before.json")
    assert ran.code == 0
    assert re.search(r"Compared with before\.json: \d differences? in \d variants\.", ran.out)
    assert "registers" in ran.out.partition("Compared with")[2]
    report = json.loads(run("--against", "before.json", "--output-format", "json").out)
    assert report["compiled"]["comparison"]["differences"][0]["kernel"] == "scale_kernel"


@pytest.mark.slow
def test_a_report_of_the_source_stage_is_none_to_compare_with(
    run: Command, tritonaudit: Command, kernels: Path
) -> None:
    tritonaudit("check", kernels, "--output-format", "json", "--output-file", "source.json")
    ran = run("--against", "source.json")
    assert ran.code == 2
    assert "was not written by `tritonaudit compile --output-format json`" in ran.err
