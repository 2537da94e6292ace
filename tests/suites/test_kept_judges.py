"""Processes that judge, kept from one audit to the next that is judged by the same text, and by nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from bench.kernelbench.files import files
from tritonaudit.config import Config
from tritonaudit.execute import pool
from tritonaudit.subject.alike import judged_alike
from tritonaudit.suites import running
from tritonaudit.suites.stage import RunRequest, Where, run_paths

PAIR = next(file.text for file in files(8) if file.name == "elu.py")
MODEL, KERNEL = PAIR.split("@triton.jit")
HEAD = MODEL[: MODEL.index("def get_inputs")]
REPLACING = MODEL.replace("def get_inputs():\n", "def get_inputs():\n    torch.isclose = None\n")


@pytest.fixture
def judges(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[pool.Hired]]:
    """Those that are begun to judge, in their order."""
    begun: list[pool.Hired] = []

    class Hired(pool.Hired):
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(*args, **options)  # type: ignore[arg-type]
            if b"audit_subject" in self.order:
                begun.append(self)

    monkeypatch.setattr(pool, "Hired", Hired)
    monkeypatch.setattr(running, "_reserve", None)
    monkeypatch.setattr(running.Runner, "_kin", lambda _, task: judged_alike(task.path))  # as on a GPU
    running.keep_judges(2)
    assert running._reserve is not None
    yield begun
    running._reserve.close()


def verdict(folder: Path, **texts: str) -> str:
    folder.mkdir()
    (folder / "pyproject.toml").touch()
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    request = RunRequest(1.0, device=Where.CPU, most_cases=0)
    ran = run_paths([folder / "elu.py"], Config(root=folder), request)
    return ran.runs[0].verdict.value


def test_one_that_has_run_references_of_their_own_files_is(judges: list[pool.Hired], tmp_path: Path) -> None:
    wrong = KERNEL.replace("return out\n", "return out + 1\n")
    found = [
        verdict(tmp_path / str(number), elu=f"{HEAD}@triton.jit{kernel}", reference=MODEL)
        for number, kernel in enumerate((KERNEL, wrong, KERNEL))
    ]
    assert found == ["pass", "fail", "pass"]
    assert len(judges) == 1


def test_one_that_has_run_a_reference_of_the_judged_file_is_not(judges: list[pool.Hired], tmp_path: Path) -> None:
    assert [verdict(tmp_path / str(number), elu=PAIR) for number in range(2)] == ["pass", "pass"]
    assert len(judges) == 2


def test_one_in_which_a_function_was_replaced_is_not(judges: list[pool.Hired], tmp_path: Path) -> None:
    for number in range(2):
        verdict(tmp_path / str(number), elu=f"{HEAD}@triton.jit{KERNEL}", reference=REPLACING)
    assert len(judges) == 2


def test_one_that_has_run_another_reference_is_not(judges: list[pool.Hired], tmp_path: Path) -> None:
    for number in range(2):
        verdict(tmp_path / str(number), elu=f"{HEAD}@triton.jit{KERNEL}", reference=f"# {number}\n{MODEL}")
    assert len(judges) == 2


def test_one_whose_surroundings_were_changed_is_not(judges: list[pool.Hired], tmp_path: Path) -> None:
    coarse = "    torch.set_float32_matmul_precision('medium')\n"
    reference = MODEL.replace("def get_inputs():\n", f"def get_inputs():\n{coarse}")
    for number in range(2):
        verdict(tmp_path / str(number), elu=f"{HEAD}@triton.jit{KERNEL}", reference=reference)
    assert len(judges) == 2


@pytest.mark.parametrize(
    ("texts", "is_alike"),
    [
        ({"reference": MODEL}, True),
        ({"reference": PAIR}, False),
        ({"reference": f"import helper\n{MODEL}", "helper": ""}, False),
        ({"reference": f"from . import helper\n{MODEL}"}, False),
        ({"reference": f"import math\n{MODEL}"}, True),
    ],
)
def test_which_pairs_are_judged_alike(texts: dict[str, str], is_alike: bool, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").touch()
    for name, text in {**texts, "elu": f"{HEAD}@triton.jit{KERNEL}"}.items():
        (tmp_path / f"{name}.py").write_text(text)
    assert bool(judged_alike(tmp_path / "elu.py")) is is_alike
