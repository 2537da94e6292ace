"""`python bench/speed --corpus DIR`: what an audit costs, side by side with LibCST alone, ruff and Fixit.

CPU seconds are user and system time of a fresh process and its children: a busy machine changes them little. Nothing
is cached. Times gate nothing: the exit code does not depend on them.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from bench.corpus import add_corpus_argument
from bench.speed.measures import Plan, carry_out, goals


def main() -> None:
    """Measure, and print one table and the figures that matter."""
    parser = argparse.ArgumentParser(prog="python bench/speed", description=(__doc__ or "").partition("\n")[0])
    add_corpus_argument(parser)
    parser.add_argument("--rounds", type=int, default=3, help="how often everything is run (default: 3)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    arguments = parser.parse_args()
    planned = carry_out(arguments.corpus, max(arguments.rounds, 1), lambda line: print(line, file=sys.stderr))
    _print(planned)
    if arguments.json:
        arguments.json.write_text(json.dumps(_figures(planned), indent=2) + "\n", encoding="utf-8")


def _print(planned: Plan) -> None:
    print(f"{planned.kernels} kernels in {planned.files} files; medians, fresh processes, nothing cached\n")
    print(f"{'':40}{'CPU s':>9}{'wall s':>9}{'peak MiB':>10}{'runs':>6}")
    for measure in planned.measures:
        figures = f"{measure.cpu:9.2f}{measure.wall:9.2f}{measure.peak_mib:10.0f}{len(measure.runs):6}"
        print(f"{measure.title:40}{figures}")
    print(f"\n{'':55}{'measured':>10}   wanted")
    for goal in goals(planned):
        wanted = f"{'≥' if goal.at_least else '≤'} {goal.limit:g}{goal.unit}"
        value = f"{goal.value:.{0 if goal.unit else 2}f}{goal.unit}"
        print(f"{goal.title:55}{value:>10}   {wanted:10}{'' if goal.reached else 'missed'}".rstrip())
    for line in planned.missing:
        print(f"not measured: {line}")


def _figures(planned: Plan) -> dict[str, object]:
    return {
        "kernels": planned.kernels,
        "files": planned.files,
        "measures": [
            {
                "title": measure.title,
                "cpu_s": [round(ran.cpu, 3) for ran in measure.runs],
                "wall_s": [round(ran.wall, 3) for ran in measure.runs],
                "peak_mib": round(measure.peak_mib, 1),
            }
            for measure in planned.measures
        ],
        "goals": [
            {"title": goal.title, "value": round(goal.value, 3), "limit": goal.limit, "reached": goal.reached}
            for goal in goals(planned)
        ],
        "not_measured": list(planned.missing),
    }


if __name__ == "__main__":
    main()
