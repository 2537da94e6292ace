"""The scripts that show defects of published packages: what they say, and how they end."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from bench.corpus import ROOT
from bench.defects.__main__ import defect_of, scripts
from bench.processes import Ran, run
from tritonaudit.rules import all_rules

_MISH = ROOT / "bench" / "defects" / "trinix" / "mish_overflow.py"
_PACKAGE = """\
import torch


class TritonMishKernel:
    @staticmethod
    def apply(x):
        return {result}
"""


def command(*arguments: str | Path) -> Ran:
    return run([sys.executable, *arguments], limit=120)


def corpus_of(folder: Path, result: str) -> Path:
    kernels = folder / "trinix-1.0" / "trinix" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "mish_kernel.py").write_text(_PACKAGE.format(result=result), encoding="utf-8")
    return folder


@pytest.mark.parametrize("script", [ROOT / "bench" / "defects", _MISH], ids=["all", "one"])
def test_a_corpus_that_is_not_there_is_a_clean_error(script: Path, tmp_path: Path) -> None:
    ran = command(script, "--corpus", tmp_path / "nowhere")
    assert ran.code == 2
    assert b"nowhere is no folder" in ran.err
    assert b"Traceback" not in ran.err


def test_a_package_that_is_not_there_is_a_clean_error(tmp_path: Path) -> None:
    (tmp_path / "other-1.0").mkdir()
    ran = command(_MISH, "--corpus", tmp_path)
    assert ran.code == 2
    assert ran.err.decode() == f"{tmp_path} has no trinix\n"


@pytest.mark.parametrize(
    ("result", "code", "said"),
    [("torch.nn.functional.mish(x)", 0, "does not show"), ("x / 0 * 0", 1, "are nan or infinite")],
)
def test_the_exit_code_says_whether_it_shows(result: str, code: int, said: str, tmp_path: Path) -> None:
    pytest.importorskip("triton")
    ran = command(_MISH, "--corpus", corpus_of(tmp_path, result))
    assert (ran.code, said in ran.out.decode()) == (code, True)


def test_a_module_that_cannot_be_imported_is_a_clean_error(tmp_path: Path) -> None:
    pytest.importorskip("triton")
    (tmp_path / "trinix-1.0" / "trinix").mkdir(parents=True)
    ran = command(_MISH, "--corpus", tmp_path)
    assert ran.code == 2
    assert ran.err.decode().splitlines()[-1].startswith("trinix cannot be imported: ")


@pytest.mark.parametrize("script", scripts(), ids=lambda script: f"{script.parent.name}/{script.stem}")
def test_a_script_says_what_it_shows(script: Path) -> None:
    defect = defect_of(script)
    name = f"{script.parent.name}/{script.stem}"
    assert re.fullmatch(r"[\w/]+\.py:\d+", defect.place)
    assert not defect.rule or defect.rule in {rule.code for rule in all_rules()}
    assert f"**{name}**" in (ROOT / "bench" / "defects" / "README.md").read_text(encoding="utf-8")
