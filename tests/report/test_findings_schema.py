"""The JSON format and its schema."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tritonaudit.report
from tritonaudit.finding import Audit
from tritonaudit.report import render

jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the output")
SCHEMA = json.loads((Path(tritonaudit.report.__file__).parent / "findings.schema.json").read_text("utf-8"))


def objects(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield schema
    yield from schema["$defs"].values()


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_part_is_described_and_closed() -> None:
    for part in objects(SCHEMA):
        assert part["description"]
        if part["type"] == "object":
            assert part["additionalProperties"] is False
            assert set(part["required"]) == set(part["properties"])
            assert all("description" in field or "$ref" in field for field in part["properties"].values())


def test_the_output_conforms(audit: Audit) -> None:
    report = json.loads(render(audit, "json", color=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert [finding["fingerprint"] for finding in report["findings"]] == [f.fingerprint for f in audit.findings]


def test_a_clean_audit_conforms() -> None:
    report = json.loads(render(Audit(files=1), "json", color=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(report)
    assert report == {"findings": [], "errors": [], "not_analysed": []}
