"""Driving the backend's stages gives what `triton.compile` gives, on every version."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("triton")

import triton
from triton.backends.compiler import GPUTarget

from tests.checkout import ROOT
from tests.compile import kernels
from tests.compile.programs import VERSION, Pointer, program, source_of, supported
from tritonaudit.compile import ptxas
from tritonaudit.compile.facts import CompileError
from tritonaudit.compile.pipeline import AssemblerKilled, Compilation, compile_program
from tritonaudit.hardware.targets import gpu_target

HALF, FULL = Pointer("fp16"), Pointer("fp32")
SIZES = {"m": 1024, "n": 1024, "k": 1024, "stride_am": 1024, "stride_bk": 1024, "stride_cm": 1024}
MATMUL = {"a": HALF, "b": HALF, "c": HALF, **SIZES}
PROGRAMS: dict[str, tuple[Any, dict[str, Any]]] = {
    "softmax": (kernels.softmax, {"src": HALF, "dst": HALF, "stride": 1000, "n": 1000, "BLOCK": 1024}),
    "matmul": (kernels.matmul, {**MATMUL, "TILE_M": 64, "TILE_N": 64, "TILE_K": 32}),
    "matmul by 8 warps": (kernels.matmul, {**MATMUL, "TILE_M": 64, "TILE_N": 128, "TILE_K": 32, "num_warps": 8}),
    "layer norm": (
        kernels.layer_norm,
        {"src": HALF, "dst": HALF, "weight": FULL, "bias": FULL, "stride": 999, "n": 999, "eps": 1e-5, "BLOCK": 512},
    ),
    "histogram": (kernels.histogram, {"src": Pointer("i32"), "counts": FULL, "n": 1024, "bins": 16, "BLOCK": 1024}),
}
CHOSEN = [
    ("softmax", "sm_80"),
    ("softmax", "gfx942"),
    ("matmul", "sm_80"),
    ("matmul", "sm_90"),
    ("matmul by 8 warps", "sm_90"),
    ("layer norm", "sm_100"),
    ("histogram", "sm_90"),
]


def compiled(name: str, target: str, through: str | None = None) -> Compilation:
    kernel, arguments = PROGRAMS[name]
    result = compile_program(program(kernel, target, **arguments), through)
    assert isinstance(result, Compilation)
    return result


def by_triton(name: str, target: str) -> Any:
    kernel, arguments = PROGRAMS[name]
    source, options = source_of(kernel, target, **arguments)
    found = gpu_target(target)
    return triton.compile(source, target=GPUTarget(found.backend, found.arch, found.warp_size), options=dict(options))


def same(name: str, target: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(folder))
    ours, theirs = compiled(name, target), by_triton(name, target)
    binary = ours.cubin if "cubin" in theirs.asm else ours.texts["amdgcn"]
    assert binary == theirs.asm["cubin" if "cubin" in theirs.asm else "amdgcn"]
    assert [ours.metadata[key] for key in ("shared", "num_warps", "name")] == [
        theirs.metadata.shared,
        theirs.metadata.num_warps,
        theirs.metadata.name,
    ]


def can(target: str) -> bool:
    """Before 3.6 Triton links with ld.lld of ROCm, so that its `compile` cannot be compared with on AMD."""
    return bool(supported(target)) and (VERSION >= (3, 6) or not target.startswith("gfx"))


@pytest.mark.parametrize(("name", "target"), [pair for pair in CHOSEN if can(pair[1])])
def test_the_result_is_that_of_triton(name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    same(name, target, tmp_path, monkeypatch)


EVERYWHERE = [
    (name, target) for name in sorted(PROGRAMS) for target in ("sm_75", "sm_86", "sm_89", "sm_90", "sm_100", "gfx942")
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target"), [pair for pair in EVERYWHERE if can(pair[1]) and pair not in CHOSEN])
def test_the_result_is_that_of_triton_everywhere(
    name: str, target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if target == "sm_75" and "matmul" in name and VERSION < (3, 6):
        pytest.skip("this version of Triton cannot compile it")
    same(name, target, tmp_path, monkeypatch)


def test_the_last_stage_may_be_named() -> None:
    assert list(compiled("softmax", "sm_80", "ttgir").texts) == ["ttir", "ttgir"]
    through = compiled("softmax", "sm_90", "ptx")
    assert list(through.seconds) == ["ttgir", "llir", "ptx"]
    assert (through.cubin, through.log) == (None, None)


def test_ptxas_runs_once_and_its_log_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[Any] = []
    run = subprocess.run

    def counted(command: Any, *arguments: Any, **keywords: Any) -> Any:
        commands.append(command)
        return run(command, *arguments, **keywords)

    monkeypatch.setattr(subprocess, "run", counted)
    usage = ptxas.usage(compiled("softmax", "sm_80").log or "")
    assert usage is not None
    assert sum("--gpu-name=sm_80" in command for command in commands) == 1


@pytest.mark.parametrize("target", supported("sm_80", "sm_90", "sm_100"))
def test_the_log_says_what_cuobjdump_says(target: str, tmp_path: Path) -> None:
    tool = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
    if not tool.exists():
        pytest.skip("this wheel has no cuobjdump")
    result = compiled("matmul by 8 warps", target)
    (tmp_path / "kernel.cubin").write_bytes(result.cubin or b"")
    command = [str(tool), "--dump-resource-usage", str(tmp_path / "kernel.cubin")]
    reported = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    usage = ptxas.usage(result.log or "")
    assert usage is not None
    found = re.search(r"REG:(\d+) STACK:(\d+) SHARED:\d+ LOCAL:(\d+)", reported)
    assert found is not None
    assert tuple(map(int, found.groups())) == (usage.registers, usage.stack, usage.local)


def test_what_cannot_be_launched_is_not_assembled() -> None:
    result = compile_program(program(kernels.square, "sm_86", a=FULL, b=FULL, c=FULL, TILE=128, num_warps=8))
    assert isinstance(result, Compilation)
    assert result.metadata["shared"] > 99 * 1024
    assert "ptx" in result.texts
    assert result.cubin is None


def test_a_program_that_mlir_does_not_take_is_reported_with_its_reason() -> None:
    kernel, arguments = next(iter(PROGRAMS.values()))
    made = program(kernel, "sm_80", **arguments)
    result = compile_program(replace(made, ttir=made.ttir.replace("tt.return", "tt.returns_never", 1)))
    assert isinstance(result, CompileError)
    assert result.message == "Triton's stage ttir fails: custom op 'tt.returns_never' is unknown"
    assert result.path == ""


def in_a_process(code: str, stderr: Any) -> subprocess.CompletedProcess[str]:
    """Run it with the fixtures of this module at hand, in a process of its own that may die."""
    given = f"from tests.compile.test_pipeline import *\n{code}"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-W", "ignore", "-c", given]
    return subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False
    )


INTEGERS = "src=Pointer('i32'), dst=Pointer('i32'), BLOCK=128"


def test_nothing_is_printed() -> None:
    code = (
        f"assert isinstance(compile_program(program(kernels.unknown_instruction, 'sm_80', {INTEGERS})), CompileError)"
    )
    done = in_a_process(code, subprocess.PIPE)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(VERSION >= (3, 9), reason="Triton 3.9 compiles it")
def test_last_words_stay_in_a_worker_s_log(tmp_path: Path) -> None:
    """LLVM ends the process."""
    with (tmp_path / "log").open("a+") as log:
        done = in_a_process(f"compile_program(program(kernels.impossible_constraint, 'sm_80', {INTEGERS}))", log)
    assert done.returncode != 0
    assert "couldn't allocate output register for constraint 'Q'" in (tmp_path / "log").read_text()


def test_no_temporary_file_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    compiled("softmax", "sm_90")
    assert os.listdir(tmp_path) == []


# -- failures ----------------------------------------------------------------------------------------------------------


def test_an_assembler_that_is_killed_rejects_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assembler = tmp_path / "ptxas"
    assembler.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Cuda compilation tools, release 12.4, V12.4.99"\n')
    with assembler.open("a") as script:
        script.write('[ "$1" = --version ] || kill -KILL $$\n')
    assembler.chmod(0o755)
    monkeypatch.setenv("TRITON_PTXAS_PATH", str(assembler))
    with pytest.raises(AssemblerKilled, match="ptxas was killed by signal 9"):
        compiled("softmax", "sm_80")


def test_an_error_of_ptxas_is_at_the_expression_that_it_is_about() -> None:
    kernel = kernels.unknown_instruction
    result = compile_program(program(kernel, "sm_80", src=Pointer("i32"), dst=Pointer("i32"), BLOCK=128))
    assert isinstance(result, CompileError)
    assert result.message == "ptxas: Not a name of any known instruction: 'frobnicate'"
    assert result.path == kernels.__file__
    assert result.span is not None
    assert kernels.source_line(result.span.line).strip().startswith("y = tl.inline_asm_elementwise(")


def test_ttir_that_cannot_be_parsed_is_an_error_and_no_exception() -> None:
    kernel, arguments = PROGRAMS["softmax"]
    result = compile_program(replace(program(kernel, "sm_80", **arguments), ttir="module {"))
    assert isinstance(result, CompileError)
    assert result.message == "Triton's stage ttir fails: expected operation name in quotes"
    assert result.span is None


@pytest.mark.skipif(VERSION != (3, 3), reason="a defect of Triton 3.3")
def test_an_error_of_llvm_is_reported_with_the_kernel() -> None:
    kernel, arguments = PROGRAMS["matmul"]
    result = compile_program(program(kernel, "sm_75", **arguments))
    assert isinstance(result, CompileError)
    assert result.message == "Unsupported rounding mode for conversion."
    assert result.span is not None
    assert kernels.source_line(result.span.line).startswith("def matmul")
