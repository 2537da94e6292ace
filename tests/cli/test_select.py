"""`tritonaudit select`: what it refuses, its exit codes, and on a GPU the variants of the fixtures."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="torch holds the tensors")
pytest.importorskip("triton", reason="triton makes the programs")

from tests.checkout import ROOT  # noqa: E402

Command = Callable[..., Any]
FIXTURES = ROOT / "fixtures" / "kernels"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Missing argument 'OP...'"),
        (("add", "--target", "sm_9"), "there is no target 'sm_9'"),
        (("add", "--regenerate", "no-such-program --now"), "'no-such-program' is not a program that can be started"),
        (("add", "--regenerate", "'open"), "No closing quotation"),
        (("add", "--regenerate", " "), "is not a program that can be started"),
    ],
)
def test_what_cannot_be_done_is_refused(tritonaudit: Command, arguments: tuple[str, ...], message: str) -> None:
    ran = tritonaudit("select", *arguments)
    assert ran.code == 2
    assert message in ran.err


def test_folders_that_are_none_are_said_and_summed_up(tritonaudit: Command, here: Path) -> None:
    ran = tritonaudit("select", "add,softmax", "--logs", "out")
    assert ran.code == 2
    assert ran.err.splitlines() == [
        f"tritonaudit: {name}: there is no such folder, here or in kernels/" for name in ("add", "softmax")
    ]
    assert ran.out == (here / "out" / "summary.md").read_text().partition("\n\n<!--")[0] + "\n"


def test_an_operation_without_a_choice_makes_the_exit_code_1(tritonaudit: Command, here: Path) -> None:
    folder = here / "kernels" / "add"
    folder.mkdir(parents=True)
    (folder / "v1.py").write_text("x = 1\n")
    ran = tritonaudit("select", "add", "--device", "cpu")
    assert (ran.code, ran.err) == (1, "")
    assert "no variant is right" in ran.out
    assert "no function `triton_add` is defined in it" in (here / "logs" / "add_log.md").read_text()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU: nothing can be timed")
def test_on_a_gpu_the_best_is_chosen_twice(tritonaudit: Command, here: Path) -> None:
    shutil.copytree(FIXTURES, here / "kernels")
    chosen = []
    for _ in range(2):
        ran = tritonaudit("select", "add,softmax,mha", "--budget", "30")
        assert ran.code == 0, f"{ran.out}\n{ran.err}"
        chosen.append([line.split("|")[2].strip() for line in ran.out.splitlines() if line.startswith("| `")])
        for operation in ("add", "softmax", "mha"):
            assert (
                "| Kernel | Small | Medium | Large | Final | Speedup |"
                in (here / "logs" / f"{operation}_log.md").read_text()
            )
    assert chosen[0] == chosen[1]
    assert chosen[0][0] == "v3_coalesced"
    assert chosen[0][2] in ("v1_baseline", "v4_optimized")
