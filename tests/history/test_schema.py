"""The published schema describes what is kept, and what breaks it is reported with its place."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.checkout import ROOT
from tests.history.entries import entry, finding
from tests.measured import row
from tritonaudit.finding import Stage
from tritonaudit.history.asked import asked_of
from tritonaudit.history.folder import SCHEMA
from tritonaudit.report.schema import breach

SCHEMAS = {
    path.name: json.loads(path.read_text("utf-8")) for path in (ROOT / "tritonaudit" / "report").glob("*.schema.json")
}
ENTRY = json.loads(json.dumps(entry(row(2.0, 1.5, 1.0), findings=(finding(),), note="tiles of 64")))


def test_what_is_kept_is_as_the_schema_says() -> None:
    assert breach(ENTRY, SCHEMA) is None
    assert breach({**ENTRY, "asked": asked_of([Stage.SOURCE], ["TAM101"], pedantic=False)}, SCHEMA) is None
    assert breach({key: value for key, value in ENTRY.items() if key != "asked"}, SCHEMA) is None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format: 2 is not one of [1]"),
        ({"masked": "no"}, "masked: 'no' is not of type 'boolean'"),
        (
            {"when": "yesterday"},
            "when: 'yesterday' does not match '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$'",
        ),
        ({"target": -1}, "target: -1 is less than the minimum of 0"),
        ({"mask": True}, "the whole: Additional properties are not allowed ('mask' was unexpected)"),
        ({"commit": {"id": "1a2b" * 10}}, "commit: 'dirty' is a required property"),
        ({"findings": [{**ENTRY["findings"][0], "line": 0}]}, "findings[0].line: 0 is less than the minimum of 1"),
    ],
)
def test_a_breach_says_where_and_what(change: dict[str, Any], said: str) -> None:
    assert breach({**ENTRY, **change}, SCHEMA) == said


def test_a_long_value_is_cut() -> None:
    said = breach({**ENTRY, "masked": "no" * 1000}, SCHEMA)
    assert said is not None
    assert said.startswith("masked: 'nono")
    assert len(said) < 300


def test_every_key_is_described() -> None:
    def undescribed(node: Any, at: str) -> Iterator[str]:
        for name, said in node.get("properties", {}).items():
            if "description" not in said and "$ref" not in said:
                yield f"{at}.{name}"

    schema = SCHEMAS[SCHEMA]
    nodes = {"": schema, **schema["$defs"]}
    assert [key for at, node in nodes.items() for key in undescribed(node, at)] == []
