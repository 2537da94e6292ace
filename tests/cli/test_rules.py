"""`tritonaudit rules`."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tritonaudit.rules import all_rules

Command = Callable[..., Any]


def test_the_table_has_a_line_for_each_rule(tritonaudit: Command) -> None:
    ran = tritonaudit("rules")
    assert ran.code == 0
    head, *lines = ran.out.splitlines()
    assert head.split() == ["code", "name", "category", "severity", "confidence", "stage", "since", "summary"]
    assert [line.split()[0] for line in lines] == [rule.code for rule in all_rules()]
    assert all(rule.summary in line for rule, line in zip(all_rules(), lines, strict=True))


def test_json_says_all_of_a_rule(tritonaudit: Command) -> None:
    listed = json.loads(tritonaudit("rules", "--output-format", "json").out)
    assert len(listed) == len(all_rules())
    unmasked = next(rule for rule in listed if rule["code"] == "TAM101")
    assert list(unmasked) == [
        "code",
        "name",
        "category",
        "severity",
        "confidence",
        "stage",
        "since",
        "summary",
        "fix",
        "page",
    ]
    assert unmasked["fix"] == "safe or unsafe"
    assert unmasked["page"].endswith("unmasked_access.md")
    assert unmasked["name"] == "unmasked-access"
    assert unmasked["category"] == "Memory patterns"
    assert unmasked["stage"] == "source"
