"""One sentence of what the compiler says, at the user's line."""

from __future__ import annotations

import pytest

from tritonaudit.compile.diagnostics import Failure, diagnose
from tritonaudit.compile.facts import CompileError
from tritonaudit.finding import Span

FROM_ZERO = 'module {} loc(#loc)\n#loc = loc("/project/kernel.py":3:0)\n'
FROM_ONE = 'module {} loc(#loc)\n#loc = loc("/project/kernel.py":3:1)\n'
PTX = '.loc 1 7 8\nfrobnicate;\n.file 1 "/project/kernel.py"\n'
PTXAS = (
    "Internal Triton PTX codegen error\n`ptxas` stderr:\nptxas /tmp/x.ptx, line 2; error   : Unknown: 'frobnicate'\n"
)
PIPELINE = "Failures have been detected while processing an MLIR pass pipeline"


def failure(message: str, stderr: str = "", ttir: str = FROM_ZERO) -> Failure:
    return Failure(RuntimeError(message), "llir", stderr, {"ttir": ttir, "ptx": PTX})


@pytest.mark.parametrize(("ttir", "column"), [(FROM_ZERO, 9), (FROM_ONE, 8)])
def test_an_error_of_ptxas_is_put_to_the_source(ttir: str, column: int) -> None:
    expected = CompileError("ptxas: Unknown: 'frobnicate'", "/project/kernel.py", Span(7, column, 7, column + 1))
    assert diagnose(failure(PTXAS, ttir=ttir)) == expected


@pytest.mark.parametrize(
    "line",
    [
        "/project/kernel.py:7:8: error: operand #0 does not dominate this use",
        'loc("/project/kernel.py":7:8): error: operand #0 does not dominate this use',
    ],
)
def test_an_error_of_mlir_has_its_place(line: str) -> None:
    stderr = f"noise\n{line}\n/project/kernel.py:3:0: error: {PIPELINE}\n"
    assert diagnose(failure("PassManager::run failed", stderr)) == CompileError(
        "operand #0 does not dominate this use", "/project/kernel.py", Span(7, 9, 7, 10)
    )


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("LLVM ERROR: Unsupported rounding mode.", "Unsupported rounding mode."),
        ("error: couldn't allocate output register", "couldn't allocate output register"),
        (
            "python: /project/lib/X.cpp:445: void f() const: Assertion `size() == 4' failed.",
            "an assertion of the compiler fails: size() == 4",
        ),
        ("", "Triton's stage llir fails: RuntimeError: PassManager::run failed"),
    ],
)
def test_without_a_place_it_is_the_kernel_s(said: str, message: str) -> None:
    stderr = f"{said}\nmodule {{}}\n/project/kernel.py:3:0: error: {PIPELINE}\n"
    assert diagnose(failure("PassManager::run failed", stderr)) == CompileError(
        message, "/project/kernel.py", Span(3, 1, 3, 2)
    )


def test_without_any_words_it_is_the_exception() -> None:
    assert diagnose(failure("map::at\nmore")) == CompileError("Triton's stage llir fails: RuntimeError: map::at")
    assert diagnose(failure("")) == CompileError("Triton's stage llir fails: RuntimeError")
