"""`tritonaudit roofline`: how fast subjects can be at best, without running them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tritonaudit.cli.compile import require_compiler
from tritonaudit.cli.hardware import hardware_option, part_called, parts_of
from tritonaudit.cli.options import CONFIG, JOBS, OUTPUT_FILE, configure, deliver, project_of, split

if TYPE_CHECKING:
    from tritonaudit.finding import Problem
    from tritonaudit.hardware.parts import Part
    from tritonaudit.hardware.roofline import Figure, Roofline
    from tritonaudit.measure.counting import Counted

_SIZES = ("small", "medium", "large")
_HEAD = ("size", "case", "FLOPs", "bytes", "FLOP/B", "ridge", "bound", "best possible", "target")


def _sizes(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...]:
    for name in split(values):
        if name not in _SIZES:
            raise click.BadParameter(f"{name!r} is not one of {', '.join(_SIZES)}")
    return split(values) or _SIZES


@click.command()
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path))
@click.option("--part", metavar="PART", help="The GPU, as `tritonaudit hardware` lists it.  [default: the one here]")
@click.option("--size", "sizes", multiple=True, callback=_sizes, help="small, medium or large.  [default: all three]")
@hardware_option
@click.option("--output-format", type=click.Choice(["table", "json"]), default="table", show_default=True)
@OUTPUT_FILE
@CONFIG
@JOBS
def command(
    paths: tuple[Path, ...],
    part: str | None,
    sizes: tuple[str, ...],
    hardware_file: Path | None,
    output_format: str,
    output_file: Path | None,
    config_file: Path | None,
    jobs: int | None,
) -> int:
    """Say how fast the subjects in files and folders can be at best on a GPU; no GPU is needed.

    PATHS defaults to the current folder. Of each subject and size: the operations and bytes that it takes, what
    bounds it, the shortest time that the GPU's data sheet allows, and the target, 90 % of that speed. Every figure has
    its source; what depends on an unknown one is UNKNOWN.

    The exit code is 0, or 2 if something could not be read or done.
    """
    require_compiler("roofline")
    from tritonaudit.measure.counting import DEFAULT_TARGET, count_files
    from tritonaudit.source.discover import discover
    from tritonaudit.subject.find import subject_files

    sources = paths or (Path(),)
    root = project_of(sources)
    parts = parts_of(hardware_file, root, config_file)
    chosen = part_called(part, parts) if part else _part_here(parts)
    found = discover(sources, configure(root, config_file, {"ignore": (), "extend_select": ()}))
    files = subject_files(found.files)
    counted, uncounted = count_files(files, chosen.target or DEFAULT_TARGET, jobs or os.cpu_count() or 1)
    asked = [one for one in counted if one.size in sizes]
    problems = (*found.problems, *uncounted)
    report = _json(chosen, asked, problems) if output_format == "json" else _text(chosen, asked, problems)
    deliver(report, output_file)
    return 2 if problems else 0


def _part_here(parts: Mapping[str, Part]) -> Part:
    from tritonaudit.hardware.parts import part_of_device
    from tritonaudit.suites.stage import Where, gpu_for

    if name := gpu_for(Where.ANY):
        return part_of_device(name, parts)
    raise click.UsageError("there is no GPU here: name one with --part, from the list of `tritonaudit hardware`")


def _text(part: Part, counted: Sequence[Counted], problems: Sequence[Problem]) -> str:
    from tritonaudit.finding import sentence_of
    from tritonaudit.hardware.formatting import columns, figure_lines
    from tritonaudit.shown import shown_path

    lines = [f"On {part.name}: {part.title}", ""]
    rooflines = [(one, part.roofline(one.work)) for one in counted]
    for (path, name), rows in groupby(rooflines, key=lambda row: (row[0].path, row[0].subject)):
        sized = list(rows)
        table = columns([_HEAD, *(_cells(one, roofline) for one, roofline in sized)])
        lines += [f"{name}  {shown_path(path)}", *(f"  {line}" for line in table.splitlines())]
        lines += [*(f"  {said}" for said in dict.fromkeys(_notes([roofline for _, roofline in sized]))), ""]
    if not counted and not problems:
        lines += ["There are no subjects.", ""]
    for figure in dict.fromkeys(figure for _, roofline in rooflines for figure in _figures(roofline)):
        lines += [*figure_lines(figure), ""]
    lines += map(sentence_of, problems)
    return "\n".join(lines).rstrip() + "\n"


def _cells(one: Counted, roofline: Roofline) -> tuple[str, ...]:
    from tritonaudit.hardware.formatting import UNKNOWN, amount, duration, ratio

    return (
        one.size,
        one.case.label,
        amount(one.work.flops, "FLOP"),
        amount(one.work.bytes, "B"),
        ratio(roofline.intensity),
        ratio(roofline.ridge) if one.work.flops != 0 else "-",
        roofline.bound or UNKNOWN,
        duration(roofline.roof_milliseconds),
        duration(roofline.target_milliseconds),
    )


def _notes(rooflines: Sequence[Roofline]) -> Iterator[str]:
    """Where the work is known from, and what is missing."""
    for roofline in rooflines:
        yield f"FLOPs: {roofline.work.flops_source}"
        yield f"bytes: {roofline.work.bytes_source}"
        if roofline.missing:
            yield f"unknown for want of: {', '.join(roofline.missing)}"


def _figures(roofline: Roofline) -> tuple[Figure, ...]:
    """Those that the roof is made of."""
    return (roofline.bandwidth,) if roofline.work.flops == 0 else (roofline.bandwidth, roofline.rate)


def _json(part: Part, counted: Sequence[Counted], problems: Sequence[Problem]) -> str:
    from tritonaudit.hardware.formatting import part_data, roofline_data
    from tritonaudit.shown import shown_path

    report: dict[str, Any] = {
        "part": part_data(part),
        "rooflines": [
            {
                "path": shown_path(one.path),
                "subject": one.subject,
                "size": one.size,
                "case": one.case.label,
                **roofline_data(part.roofline(one.work)),
            }
            for one in counted
        ],
        "errors": [{"path": one.path, "line": one.line, "message": one.message} for one in problems],
    }
    return json.dumps(report, indent=2) + "\n"
