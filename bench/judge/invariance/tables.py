"""The tables of edits that mean nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from bench.judge.invariance.edits import EDITS
from bench.judge.invariance.trying import Compared, Reported, Tried


def by_edit(tried: Sequence[Tried]) -> str:
    """By edit: the kernels that it touched, and what became of their findings."""
    head = "| edit | kernels touched | findings | lost | new | same | errors | lost | new | same |"
    lines = [head, "|---" * 10 + "|"]
    compared = [one for file in tried for one in file.compared]
    lines += [_row(name, [one for one in compared if one.edit == name]) for name in EDITS]
    found = sum(len(one.kernels.found) for one in tried)
    clean = sum(len(one.kernels.names) for one in tried) - found
    reported = f"{found} kernels with findings and {clean} without, of {len(tried)} files"
    return "\n".join((*lines, _row("**all**", compared), "", reported))


def _row(title: str, compared: Sequence[Compared]) -> str:
    kernels = sum(len(one.kernels) for one in compared)
    cells = [title, str(kernels), *_counts(compared, only_errors=False), *_counts(compared, only_errors=True)]
    return f"| {' | '.join(cells)} |"


def _counts(compared: Sequence[Compared], *, only_errors: bool) -> list[str]:
    def number(findings: Iterator[Reported]) -> int:
        return sum(one.severity == "error" or not only_errors for one in findings)

    found = number(reported for one in compared for reported in one.findings)
    lost = number(reported for one in compared for reported in one.lost)
    new = number(reported for one in compared for reported in one.new)
    same = f"{100 * (found - lost) / found:.1f} %" if found else "-"
    return [str(found), str(lost), str(new), same]


def by_rule(tried: Sequence[Tried]) -> str:
    """By rule: how often a finding was held against an edit, lost and new, and by which edits."""
    compared = [one for file in tried for one in file.compared]
    held = Counter(reported.code for one in compared for reported in one.findings)
    lost = Counter(reported.code for one in compared for reported in one.lost)
    new = Counter(reported.code for one in compared for reported in one.new)
    lines = ["| rule | (finding, edit) | lost | new | by |", "|---|---|---|---|---|"]
    for code in sorted(held | new):
        by = Counter(one.edit for one in compared for reported in (*one.lost, *one.new) if reported.code == code)
        shown = ", ".join(f"{edit} {count}" for edit, count in by.most_common())
        lines.append(f"| {code} | {held[code]} | {lost[code]} | {new[code]} | {shown} |")
    return "\n".join(lines)


def rows(tried: Sequence[Tried]) -> Iterator[tuple[str, ...]]:
    """Every finding that an edit lost or brought, after a row of titles."""
    yield ("file", "edit", "what", "code", "severity", "kernel", "lines", "message")
    for file in tried:
        for one in file.compared:
            for what, findings in (("lost", one.lost), ("new", one.new)):
                for reported in findings:
                    lines = ",".join(map(str, sorted(reported.lines)))
                    yield (
                        file.path,
                        one.edit,
                        what,
                        reported.code,
                        reported.severity,
                        reported.kernel,
                        lines,
                        reported.message,
                    )
