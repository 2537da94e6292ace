"""`tritonaudit farm` as a process: every subject has one line, whatever is killed; and what the lines come to."""

from __future__ import annotations

import json
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.farm.running import FILES, WRONG, lines_in, started
from tritonaudit.farm.page import page
from tritonaudit.farm.subjects import ListError, listed
from tritonaudit.farm.summary import LineError, summary_of
from tritonaudit.farm.table import text
from tritonaudit.report.schema import breach


def test_every_subject_has_a_line(whole: dict[str, str]) -> None:
    lines = {path: json.loads(line) for path, line in whole.items()}
    assert {path: line["verdict"] for path, line in lines.items()} == {
        **dict.fromkeys(FILES, "pass"),
        WRONG: "fail",
    }
    assert [breach(line, "line.schema.json") for line in lines.values()] == [None] * len(lines)


def test_killed_at_random_it_goes_on_to_the_same_lines_in_any_order(
    project: Path, whole: dict[str, str], tmp_path: Path
) -> None:
    results = tmp_path / "results.jsonl"
    (tmp_path / "list.txt").write_text("".join(f"{project / name}\n" for name in reversed(FILES)))
    for _ in range(2):
        killed = started(project, str(tmp_path / "list.txt"), "--output", str(results), "--resume")
        time.sleep(random.uniform(1, 8))
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
    last = started(project, str(tmp_path / "list.txt"), "--output", str(results), "--resume")
    _, err = last.communicate(timeout=170)
    assert last.returncode == 1, err
    assert lines_in(results) == whole


# -- lists, and what lines come to -------------------------------------------------------------------------------------


def test_a_list_names_what_it_lacks(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    (tmp_path / "list.txt").write_text("# candidates\na.py\nb.py\n")
    with pytest.raises(ListError, match=r"list\.txt:3: no such file or folder: 'b\.py'"):
        listed([tmp_path / "list.txt"])


def line(path: str, verdict: str, *findings: dict[str, Any], **more: Any) -> str:
    said = {"path": path, "digest": "0" * 64, "verdict": verdict, "findings": findings, "errors": [], **more}
    return json.dumps(said) + "\n"


CHEAT = {"code": "TAC411", "name": "torch-does-the-work", "severity": "error", "message": "torch does <b>it</b>"}
FALSE = {"code": "TAC401", "name": "wrong-result", "severity": "error", "message": "1 is 2"}
TIMED = {
    "subjects": [
        {
            "rows": [
                {
                    "size": "large",
                    "roofline": {"reached": 0.5},
                    "contenders": [{"role": "pytorch", "speedup": {"value": 2.0, "low": 1.9, "high": 2.1}}],
                }
            ]
        }
    ]
}


@pytest.fixture
def results(tmp_path: Path) -> Path:
    file = tmp_path / "results.jsonl"
    file.write_text(
        line("a.py", "error")
        + line("b.py", "fail", CHEAT, FALSE)
        + line("c\x1b[2J.py", "fail", FALSE)
        + line("a.py", "pass", measured=TIMED)
        + '{"path": "half'
    )
    return file


def test_the_last_line_of_each_file_counts(results: Path) -> None:
    summary = summary_of(results)
    assert summary.verdicts == {"fail": 2, "pass": 1}
    assert [(kind.code, kind.files) for kind in summary.failures] == [("TAC401", 2)]
    assert [(kind.code, kind.line) for kind in summary.cheats] == [("TAC411", 2)]
    assert [(one.value, one.line, one.efficiency) for one in summary.speeds] == [(2.0, 4, 0.5)]


def test_tables_and_the_page_show_text_of_files_safely(results: Path) -> None:
    summary = summary_of(results)
    shown, html = text(summary), page(summary)
    assert "\x1b" not in shown
    assert "\x1b" not in html
    assert "2.00 (1.90 to 2.10), 50% of the roof" in shown
    assert "<b>it" not in html
    assert "torch does &lt;b&gt;it" in html


def test_a_file_of_something_else_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "notes.jsonl"
    file.write_text(line("a.py", "pass") + "my notes\n")
    with pytest.raises(LineError, match=r"notes\.jsonl:2: no line of an audit"):
        summary_of(file)


def test_what_is_read_is_not_overwritten(project: Path, tmp_path: Path) -> None:
    names = tmp_path / "list.txt"
    names.write_text(f"{project / FILES[0]}\n")
    before = (project / FILES[0]).read_text()
    for paths, output in (([str(names)], names), (["run", "."], project / FILES[0])):
        process = started(project, "--output", str(output), paths=paths)
        _, err = process.communicate(timeout=100)
        assert process.returncode == 2
        assert f"--output would overwrite {output}, which is read" in err
    assert names.read_text() == f"{project / FILES[0]}\n"
    assert (project / FILES[0]).read_text() == before


def test_a_results_file_that_is_none_is_named(tmp_path: Path) -> None:
    for content in (b"\xff\xfe\x00", b'{"path": "a", "verdict": "fail", "errors": [], "findings": [], "ran": null}\n'):
        results = tmp_path / "results.jsonl"
        results.write_bytes(content)
        with pytest.raises(LineError, match=r"results\.jsonl:1: no line of an audit"):
            summary_of(results)
