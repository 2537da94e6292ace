"""A history as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tritonaudit.history.compare import Compared
from tritonaudit.history.entry import Data
from tritonaudit.history.figures import figures_of
from tritonaudit.history.folder import Version
from tritonaudit.history.trend import Trend
from tritonaudit.report.escape import visible

_NONE = "-"


def list_text(versions: Sequence[Version]) -> str:
    """A line for each version."""
    rows = [_summary(version) for version in versions]
    return _table(rows) if rows else "The history is empty.\n"


def show_text(version: Version) -> str:
    """All figures and findings of a version."""
    return _joined(_shown(version))


def compared_text(earlier: Version, later: Version, found: Compared) -> str:
    """What differs, subject by subject."""
    return _joined(_compared(earlier, later, found))


def trend_text(versions: Sequence[Version], found: Sequence[Trend]) -> str:
    """A line per figure over the versions, subject by subject, and which have reached the target."""
    head = ["", *(f"v{version.number}" for version in versions)]
    devices = [version.data["environment"]["device"] or "" for version in versions]
    over_all = [["device", *devices]] if len(set(devices)) > 1 else []
    over_all.append(["findings", *(str(len(version.data["findings"])) for version in versions)])
    parts = [_table([head, *over_all])]
    for one in found:
        rows = [[f"  {line.name}", *(shown or _NONE for shown in line.shown)] for line in one.lines]
        word = "reached" if one.standing.is_reached else "not reached"
        target = f"  target {word}: {visible(one.standing.reason)}\n"
        parts.append(f"{visible(one.subject)}  {visible(one.path)}\n{_table(rows)}{target}")
    return "\n".join(parts)


def _summary(version: Version) -> list[str]:
    data = version.data
    failed = sum(one["status"] == "fail" for subject in data["subjects"] for one in subject["checks"])
    return [
        f"v{version.number}",
        data["when"].replace("T", " ").rstrip("Z"),
        _commit(data),
        data["environment"]["device"] or "no device",
        _counted(len(data["subjects"]), "subject"),
        _counted(failed, "failed check"),
        _counted(len(data["findings"]), "finding"),
        *(["masked"] if version.is_masked else []),
        *([data["note"]] if data["note"] else []),
    ]


def _commit(data: Data) -> str:
    """`1a2b3c4d5e` with `+` where files differed from it."""
    commit = data["commit"]
    return "no commit" if commit is None else f"{commit['id'][:10]}{'+' if commit['dirty'] else ''}"


def _shown(version: Version) -> Iterator[str]:
    data = version.data
    yield "  ".join(_summary(version))
    known = ((name, value) for name, value in data["environment"].items() if value)
    yield ", ".join(f"{name} {value}" for name, value in known)
    if (asked := data.get("asked")) is not None:
        pedantic = ", pedantic" if asked["pedantic"] else ""
        yield f"asked for: {', '.join(asked['parts']) or 'nothing'}; {_counted(len(asked['rules']), 'rule')}{pedantic}"
    for subject in data["subjects"]:
        yield ""
        yield f"{subject['subject']}  {subject['path']}  {_counted(subject['cases'], 'case')}"
        statuses = Counter(one["status"] for one in subject["checks"])
        yield "  checks: " + (", ".join(f"{number} {status}" for status, number in statuses.items()) or "none")
        for one in subject["checks"]:
            if one["status"] != "pass":
                yield f"  {one['check']}: {': '.join(filter(None, (one['status'], one['reason'])))}"
        for name, figure in figures_of(subject).items():
            if not figure.is_verdict:
                yield f"  {name}: {figure.shown}"
    if data["findings"]:
        yield ""
        yield "findings"
        for one in data["findings"]:
            yield f"  {one['path']}:{one['line']}: {one['severity']} {one['code']} {one['name']}: {one['message']}"
    for problem in data["problems"]:
        yield f"could not: {problem['path']}: {problem['message']}"


def _compared(earlier: Version, later: Version, found: Compared) -> Iterator[str]:
    yield f"v{earlier.number}  {earlier.data['when']}  {_commit(earlier.data)}"
    yield f"v{later.number}  {later.data['when']}  {_commit(later.data)}"
    for one in found.environment:
        yield f"  {one.name}: {one.shown}"
    for (path, subject), differences in found.subjects:
        yield ""
        yield f"{subject}  {path}"
        for one in differences:
            yield f"  {one.move:<6}  {one.name}{': ' if one.shown else ''}{one.shown}"
    if found.findings:
        yield ""
        yield "findings"
        for one in found.findings:
            yield f"  {one.move:<6}  {one.name}: {one.shown}"
    yield ""
    yield f"{_counted(found.same, 'other figure')} the same"
    for number, parts in ((earlier.number, found.both.only_earlier), (later.number, found.both.only_later)):
        if parts:
            yield f"not compared: {', '.join(parts)}, which only v{number} was asked for"
    if found.unasked:
        yield f"{_counted(found.unasked, 'finding')} not compared: only one of the two was asked for them"
    if found.untimed:
        yield f"{_counted(found.untimed, 'figure')} not compared: they were timed on different devices"


def _joined(lines: Iterator[str]) -> str:
    return "".join(f"{visible(line)}\n" for line in lines)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as what is in them."""
    shown = [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in shown if at < len(row)) for at in range(max(map(len, shown)))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in shown)
    return "".join(f"{line}\n" for line in lines)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
