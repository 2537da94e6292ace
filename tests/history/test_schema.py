"""The published schema describes what is kept, and our reading of it is jsonschema's."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest
import referencing
from hypothesis import given
from hypothesis import strategies as st

from tests.checkout import ROOT
from tests.history.entries import entry, finding
from tests.measured import row
from tritonaudit.history.folder import SCHEMA
from tritonaudit.report.schema import breach

SCHEMAS = {
    path.name: json.loads(path.read_text("utf-8")) for path in (ROOT / "tritonaudit" / "report").glob("*.schema.json")
}
VALIDATOR = jsonschema.Draft202012Validator(
    SCHEMAS[SCHEMA],
    registry=referencing.Registry().with_resources(
        (name, referencing.Resource.from_contents(schema)) for name, schema in SCHEMAS.items()
    ),
)
ENTRY = json.loads(json.dumps(entry(row(2.0, 1.5, 1.0), findings=(finding(),), note="tiles of 64")))
VALUES = [None, True, -1, 0.5, "", "pass", [], {}, {"id": "x"}]


def places(data: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The keys that lead to each value in it."""
    for key, value in data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ():
        yield (*at, key)
        yield from places(value, (*at, key))


PLACES = list(places(ENTRY))


def test_what_is_kept_is_as_the_schema_says() -> None:
    VALIDATOR.validate(ENTRY)
    assert breach(ENTRY, SCHEMA) is None


@given(st.sampled_from(PLACES), st.sampled_from([*VALUES, "removed", "another key"]))
def test_a_changed_entry_is_judged_as_jsonschema_does(place: tuple[Any, ...], value: Any) -> None:
    changed = copy.deepcopy(ENTRY)
    *way, last = place
    holder = changed
    for key in way:
        holder = holder[key]
    if value == "removed":
        del holder[last]
    elif value == "another key" and isinstance(holder, dict):
        holder["another"] = 1
    else:
        holder[last] = value
    assert (breach(changed, SCHEMA) is None) == VALIDATOR.is_valid(changed)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": 2}, "format: is none of 1"),
        ({"masked": "no"}, "masked: is not boolean"),
        ({"when": "yesterday"}, "when: does not match ^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$"),
        ({"target": -1}, "target: is less than 0"),
        ({"mask": True}, "the whole: has 'mask', which is none of its keys"),
        ({"commit": {"id": "1a2b" * 10}}, "commit: lacks 'dirty'"),
        ({"findings": [{**ENTRY["findings"][0], "line": 0}]}, "findings[0].line: is less than 1"),
    ],
)
def test_a_breach_says_where_and_what(change: dict[str, Any], said: str) -> None:
    assert breach({**ENTRY, **change}, SCHEMA) == said


def test_every_key_is_described() -> None:
    def undescribed(node: Any, at: str) -> Iterator[str]:
        for name, said in node.get("properties", {}).items():
            if "description" not in said and "$ref" not in said:
                yield f"{at}.{name}"

    schema = SCHEMAS[SCHEMA]
    nodes = {"": schema, **schema["$defs"]}
    assert [key for at, node in nodes.items() for key in undescribed(node, at)] == []
