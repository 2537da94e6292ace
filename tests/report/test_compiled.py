"""What a report shows of compiled kernels: the table, what changed, the JSON and its schema, SARIF."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tritonaudit.report
from tests.compiled import access, kernel, narrow, variant
from tritonaudit.compile.audit import CompileAudit
from tritonaudit.compile.compare import compare
from tritonaudit.compile.facts import AccessKind, CompiledKernel, CompileError, Sweep
from tritonaudit.compile.record import read_record, record
from tritonaudit.finding import Audit, Outcome, Span, Status
from tritonaudit.report import render
from tritonaudit.report.compiled import CompiledSection

EXPECTED = Path(__file__).parent / "expected"
SCHEMAS = Path(tritonaudit.report.__file__).parent
KIB = 1024
TUNED = "BLOCK=128 num_warps=8"

SOFTMAX = kernel(
    variant(
        "sm_80",
        "",
        "size=1024 float16",
        "size=4096 float16",
        shared_limit=163 * KIB,
        occupancy=64,
        occupancy_of=64,
        accesses=(access(8, (16, 1)), access(10, (16, 1), kind=AccessKind.STORE)),
    ),
    variant(
        "sm_80",
        "",
        "size=1000 float16",
        registers=28,
        shared_limit=163 * KIB,
        occupancy=8,
        occupancy_of=64,
        occupancy_limit="registers",
        accesses=(access(8, (2, 8)), access(10, (16, 1), kind=AccessKind.STORE)),
        narrow=(narrow(access(8, (2, 8))),),
    ),
    variant("gfx942", "", "size=1024 float16", "size=4096 float16", error=CompileError("no", "a.py", Span(1, 1, 1, 2))),
    sweeps=(Sweep("size", (1, 2, 3, 4), 4, "n"),),
)
MATMUL = kernel(
    variant(
        "sm_90",
        TUNED,
        "m=64",
        registers=255,
        spill_stores=964,
        spill_loads=1028,
        shared=256 * KIB,
        shared_limit=227 * KIB,
        dots=(("fp16", 1),),
        matrix=("wgmma.mma_async",),
        accesses=(access(20, (0, 2), kind=AccessKind.BULK_COPY), access(23, (16, 4), kind=AccessKind.STORE)),
    ),
    variant("gfx942", TUNED, "m=64", registers=470, accumulators=214, stages=None, matrix=("v_mfma_f32_32x32x8_f16",)),
    variant("gfx942", TUNED, "m=1000", error=CompileError("no")),
    name="matmul_kernel",
    path="kernels/matmul.py",
    span=Span(40, 5, 40, 18),
)
GUESSED = kernel(variant(assumed=("x_ptr is fp16",)), name="copy\x1b[31m", path="kernels/copy.py")


def audit_of(*kernels: CompiledKernel, audit: Audit | None = None) -> CompileAudit:
    return CompileAudit(audit or Audit(files=2, kernels=len(kernels)), kernels, ("sm_80", "sm_90", "gfx942"), "3.9.0")


def section_of(*kernels: CompiledKernel) -> CompiledSection:
    return CompiledSection(audit_of(*kernels))


@pytest.fixture
def section() -> CompiledSection:
    """Three kernels, and what changed since a run of another Triton."""
    now = audit_of(SOFTMAX, MATMUL, GUESSED)
    calm = variant("sm_90", TUNED, "m=64", registers=200, shared=KIB)
    calmer = kernel(calm, name="matmul_kernel", path="kernels/matmul.py")
    before = read_record({**record(audit_of(SOFTMAX, calmer)), "triton": "3.6.0"})
    return CompiledSection(now, "before.json", compare(before, read_record(record(now))))


def render_with(section: CompiledSection, format: str = "full", *, color: bool = False) -> str:
    return render(section.audit.audit, format, color=color, sections=[section])


def test_the_table_is_literal(section: CompiledSection, expected: Callable[[Path, str], None]) -> None:
    expected(EXPECTED / "compiled.txt", render_with(section))


def test_colour_adds_only_escape_sequences(section: CompiledSection) -> None:
    coloured = render_with(section, color=True)
    assert "\x1b[31m1,992\x1b[0m" in coloured.replace(" ", "")
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render_with(section)


def test_the_table_comes_before_the_findings_and_what_was_not_run_after(audit: Audit) -> None:
    missed = Outcome("capture", "kernels/softmax.py:6", Status.NOT_RUN, reason="ValueError: empty")
    both = Audit(audit.findings, outcomes=(missed,), texts=audit.texts, files=1)
    text = render_with(CompiledSection(audit_of(SOFTMAX, audit=both)))
    table, finding = text.index("softmax_kernel  kernels/"), text.index("TAM101")
    missing = text.index("kernels/softmax.py:6: not analysed: ValueError: empty")
    assert table < finding < missing


def test_sarif_has_findings_alone(section: CompiledSection) -> None:
    assert render_with(section, "sarif") == render(section.audit.audit, "sarif", color=False)


def test_what_changed_is_in_the_short_formats_too(section: CompiledSection) -> None:
    assert section.comparison is not None
    compared = "Compared with" + render_with(section).partition("Compared with")[2].partition("\n\n")[0] + "\n"
    assert render_with(section, "concise") == compared
    notices = render_with(section, "github").splitlines()
    assert len(notices) == len(section.comparison.differences)
    assert all(notice.startswith("::notice file=kernels/") for notice in notices)
    worst = section.comparison.differences[0]
    assert f"line={worst.line},title=changed since before.json::{worst.kernel} {worst.target}" in notices[0]


@pytest.mark.parametrize("format", ["concise", "github"])
def test_the_short_formats_have_no_table(format: str) -> None:
    assert render_with(section_of(SOFTMAX), format) == ""


def test_what_fails_alike_for_every_target_is_said_once() -> None:
    missed = [
        Outcome("capture", "kernels/softmax.py", Status.NOT_RUN, case=target, reason="ValueError: empty")
        for target in ("sm_80", "sm_90")
    ]
    section = CompiledSection(audit_of(SOFTMAX, audit=Audit(outcomes=tuple(missed))))
    (invocation,) = json.loads(render_with(section, "sarif"))["runs"][0]["invocations"]
    (note,) = invocation["toolExecutionNotifications"]
    assert (note["message"]["text"], note["level"]) == ("kernels/softmax.py: not analysed: ValueError: empty", "note")
    text = render_with(section)
    assert text.count("ValueError: empty") == 1
    assert "1 not analysed." in text
    assert len(json.loads(render_with(section, "json"))["not_analysed"]) == 2


# JSON


def schema() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((SCHEMAS / "compiled.schema.json").read_text("utf-8"))
    return loaded


def objects() -> Iterator[dict[str, Any]]:
    yield schema()
    yield from schema()["$defs"].values()


def validate(report: Any) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the output")
    referencing = pytest.importorskip("referencing", reason="jsonschema follows references with it")
    findings = json.loads((SCHEMAS / "findings.schema.json").read_text("utf-8"))
    resource = referencing.Resource.from_contents(findings)
    registry = referencing.Registry().with_resource("findings.schema.json", resource)
    jsonschema.Draft202012Validator(schema(), registry=registry).validate(report)


def test_the_schema_is_one() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the output")
    jsonschema.Draft202012Validator.check_schema(schema())


def test_every_part_is_described_and_closed() -> None:
    for part in objects():
        assert part["description"]
        assert part["additionalProperties"] is False
        assert set(part["required"]) == set(part["properties"])
        assert all("description" in field or "$ref" in field for field in part["properties"].values())


def test_the_output_conforms(section: CompiledSection) -> None:
    validate(json.loads(render_with(section, "json")))
    validate(json.loads(render_with(section_of(), "json")))


def test_an_output_with_a_gap_does_not_conform(section: CompiledSection) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the output")
    report = json.loads(render_with(section, "json"))
    del report["compiled"]["kernels"][0]["variants"][0]["resources"]["shared"]
    with pytest.raises(jsonschema.ValidationError):
        validate(report)


def test_the_kernels_can_be_read_back() -> None:
    report = json.loads(render_with(section_of(SOFTMAX, MATMUL), "json"))
    back = read_record(report["compiled"])
    assert back.kernels == (SOFTMAX, MATMUL)
    assert (back.triton, back.targets) == ("3.9.0", ("sm_80", "sm_90", "gfx942"))


def test_what_a_later_version_adds_to_the_resources_is_passed_over() -> None:
    data = record(audit_of(SOFTMAX))
    data["kernels"][0]["variants"][0]["resources"]["predicates"] = 7
    assert read_record(data).kernels == (SOFTMAX,)
