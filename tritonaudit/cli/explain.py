"""`tritonaudit explain`: the page of a rule."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

import click

from tritonaudit.cli import terminal
from tritonaudit.cli.options import complete_rules
from tritonaudit.finding import Stage
from tritonaudit.rule import Fixable, Rule


@click.command()
@click.argument("rules", nargs=-1, required=True, metavar="RULE…", shell_complete=complete_rules)
def command(rules: tuple[str, ...]) -> None:
    """Explain rules, each given by its code or its name.

    On a terminal the page is rendered; otherwise it is Markdown.
    """
    pages = [_page(_find(rule)) for rule in rules]
    if terminal.is_terminal():
        _render(pages)
    else:
        terminal.write("\n".join(pages))


def _page(rule: type[Rule]) -> str:
    """The rule's page, with what the rule says of itself under its title."""
    page = rule.page() if rule.page_file().is_file() else f"# {rule.code} {rule.name}\n\n{rule.summary}\n"
    title, _, rest = page.partition("\n")
    facts = "".join(f"- {name}: {value}\n" for name, value in _facts(rule))
    return f"{title}\n\n{facts}{rest}"


def _facts(rule: type[Rule]) -> Iterator[tuple[str, str]]:
    pedantic = "; shown only with `--pedantic`, or `--select` and its code" if rule.is_pedantic() else ""
    yield "Severity", rule.severity.value
    yield "Confidence", rule.confidence.value + pedantic
    yield "Fix", _FIXES[rule.fixable]
    yield "Found by", f"{_COMMANDS[rule.stage()]} ({rule.category().title}, since {rule.since})"
    yield "Suppress", f'`# tritonaudit: ignore[{rule.code}] why`, or `ignore = ["{rule.code}"]` in the configuration'
    if rule.page_file().is_file():
        yield "Page", f"<{rule.page_file().as_uri()}>"


_FIXES = {
    Fixable.NO: "none",
    Fixable.SAFE: "safe, with `--fix`",
    Fixable.UNSAFE: "unsafe, with `--fix --unsafe-fixes`",
    Fixable.EITHER: "safe, with `--fix`, or else unsafe, with `--unsafe-fixes` as well",
}
_COMMANDS = {
    Stage.SOURCE: "`tritonaudit check`",
    Stage.COMPILE: "`tritonaudit compile`",
    Stage.RUN: "`tritonaudit audit`",
    Stage.MEASURE: "`tritonaudit audit` on a GPU",
}


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
