"""`tritonaudit explain`: the page of a rule."""

from __future__ import annotations

from difflib import get_close_matches

import click

from tritonaudit.cli import terminal
from tritonaudit.rule import Rule


@click.command()
@click.argument("rules", nargs=-1, required=True, metavar="RULE…")
def command(rules: tuple[str, ...]) -> None:
    """Explain rules, each given by its code or its name.

    On a terminal the page is rendered; otherwise it is the Markdown as it was written.
    """
    pages = [_find(rule).page() for rule in rules]
    if terminal.is_terminal():
        _render(pages)
    else:
        terminal.write("\n".join(pages))


def _find(code_or_name: str) -> type[Rule]:
    from tritonaudit.rules import all_rules, find_rule

    rule: type[Rule] | None = find_rule(code_or_name)
    if rule:
        return rule
    known = [label for rule in all_rules() for label in (rule.code, rule.name)]
    close = get_close_matches(code_or_name, known, n=3) or get_close_matches(code_or_name.upper(), known, n=3)
    hint = f"; did you mean {' or '.join(close)}?" if close else "; `tritonaudit rules` lists them"
    raise click.ClickException(f"no rule {code_or_name!r}{hint}")


def _render(pages: list[str]) -> None:
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    with console.capture() as captured:
        for page in pages:
            console.print(Markdown(page))
    terminal.write(captured.get())
