"""`tritonaudit rules`: every rule there is."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from tritonaudit.cli import terminal
from tritonaudit.rule import Rule

_COLUMNS = ("code", "name", "category", "severity", "confidence", "stage", "since", "summary")


@click.command()
@click.option("--output-format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(output_format: str) -> None:
    """List the rules."""
    from tritonaudit.rules import all_rules

    rows = [_row(rule) for rule in all_rules()]
    terminal.write(f"{json.dumps(rows, indent=2)}\n" if output_format == "json" else _table(rows))


def _row(rule: type[Rule]) -> dict[str, str]:
    return {
        "code": rule.code,
        "name": rule.name,
        "category": rule.category().title,
        "severity": rule.severity.value,
        "confidence": rule.confidence.value,
        "stage": rule.stage().name.lower(),
        "since": rule.since,
        "summary": rule.summary,
    }


def _table(rows: Sequence[dict[str, str]]) -> str:
    """One line per rule, for people and for `grep`."""
    lines = [_COLUMNS, *(tuple(row.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )
