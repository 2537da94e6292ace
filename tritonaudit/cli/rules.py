"""`tritonaudit rules`: every rule there is."""

from __future__ import annotations

import json
from collections.abc import Sequence

import click

from tritonaudit.cli import terminal
from tritonaudit.cli.notices import complain
from tritonaudit.rule import Rule

_COLUMNS = ("code", "name", "category", "severity", "confidence", "stage", "since", "summary")


@click.command()
@click.option("--output-format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def command(output_format: str) -> int:
    """List the rules.

    The exit code is 2 if the rules of an installed package had to be left out.
    """
    from tritonaudit.rules import all_rules, broken_packages

    rows = [_row(rule) for rule in all_rules()]
    terminal.write(f"{json.dumps(rows, indent=2)}\n" if output_format == "json" else _table(rows))
    complain(broken_packages())
    return 2 if broken_packages() else 0


def _row(rule: type[Rule]) -> dict[str, str | None]:
    page = rule.page_file()
    return {
        "code": rule.code,
        "name": rule.name,
        "category": rule.category().title,
        "severity": rule.severity.value,
        "confidence": rule.confidence.value,
        "stage": rule.stage().name.lower(),
        "since": rule.since,
        "summary": rule.summary,
        "fix": rule.fixable.value,
        "page": str(page) if page.is_file() else None,
    }


def _table(rows: Sequence[dict[str, str | None]]) -> str:
    """One line per rule, for people and for `grep`."""
    lines = [_COLUMNS, *(tuple(str(row[column]) for column in _COLUMNS) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )
