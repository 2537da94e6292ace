"""`tritonaudit hardware`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tritonaudit.hardware.parts import known_parts

Command = Callable[..., Any]

OWN = {
    "sources": {"sheet": "our lab's sheet"},
    "parts": {
        "LAB-1": {
            "title": "our lab's GPU",
            "devices": ["LAB GPU"],
            "figures": [
                {"figure": "bandwidth", "printed": 1.5, "unit": "TB/s", "source": "sheet", "place": "1", "quote": "1.5"}
            ],
        }
    },
}


def test_the_table_has_a_line_for_each_part(tritonaudit: Command) -> None:
    ran = tritonaudit("hardware")
    assert ran.code == 0
    head, *lines = ran.out.splitlines()
    assert head.split("  ")[0] == "part"
    assert [line.split()[0] for line in lines[: len(known_parts())]] == list(known_parts())
    [h100] = (line for line in lines if line.startswith("H100-SXM "))
    assert [cell.strip() for cell in h100.split("  ") if cell.strip()] == [
        "H100-SXM",
        "3,350 GB/s*",
        "80 GB",
        "50 MiB",
        "132",
        "989.4 TFLOP/s*",
        "1,978.9 TFLOP/s",
        "66.9 TFLOP/s*",
        "295",
    ]
    assert any(line.startswith("MI325X") and "UNKNOWN" in line for line in lines)


def test_a_part_is_reported_with_its_sources_and_what_contradicts_them(tritonaudit: Command) -> None:
    ran = tritonaudit("hardware", "l4")
    assert ran.code == 0
    assert ran.out.startswith("L4: NVIDIA L4, 24 GB\ntorch calls it 'NVIDIA L4'\n\nDRAM bandwidth: 300 GB/s\n")
    assert (
        "  but 3,350 GB/s, says\n"
        "    PyTorch 2.13.0, torch/_inductor/analysis/device_info.py, line 92:\n"
        '    “"NVIDIA L4": … dram_bw_gbs=3350”\n'
    ) in ran.out
    assert "matrix rate, float16: 121 TFLOP/s, ridge 403 FLOP/B\n" in ran.out
    assert "half of what is printed, which is with 2:4 sparsity" in ran.out


def test_what_is_unknown_is_said(tritonaudit: Command) -> None:
    out = tritonaudit("hardware", "MI250X-GCD").out
    assert "vector rate, float32: UNKNOWN\n  no source was found\n" in out
    assert "L2 cache: UNKNOWN\n  sources disagree" in tritonaudit("hardware", "L40S").out


def test_json_says_all_of_it(tritonaudit: Command) -> None:
    [part] = json.loads(tritonaudit("hardware", "NVIDIA H200", "--output-format", "json").out)["parts"]
    assert (part["name"], part["target"], part["devices"]) == ("H200", "sm_90", ["NVIDIA H200"])
    bandwidth = part["figures"][0]
    assert (bandwidth["name"], bandwidth["value"], bandwidth["unit"]) == ("DRAM bandwidth", 4800, "GB/s")
    assert bandwidth["source"]["quote"].startswith("H200 SXM 4.8TB/s")
    assert [conflict["value"] for conflict in bandwidth["conflicts"]] == [4890]
    listed = json.loads(tritonaudit("hardware", "--output-format", "json").out)["parts"]
    assert [part["name"] for part in listed] == list(known_parts())


def test_an_unknown_part(tritonaudit: Command) -> None:
    ran = tritonaudit("hardware", "H100-SMX")
    assert ran.code == 2
    assert "there is no part 'H100-SMX'; did you mean 'H100-SXM'" in ran.err


def test_a_file_of_ones_own(tritonaudit: Command, tmp_path: Path) -> None:
    file = tmp_path / "lab.json"
    file.write_text(json.dumps(OWN))
    ran = tritonaudit("hardware", "LAB GPU", "--hardware", file)
    assert ran.out.startswith("LAB-1: our lab's GPU\n")
    assert "DRAM bandwidth: 1,500 GB/s\n  our lab's sheet, 1:\n  “1.5”\n" in ran.out


def test_the_file_that_the_project_names(tritonaudit: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lab.json").write_text(json.dumps(OWN))
    (tmp_path / "pyproject.toml").write_text('[tool.tritonaudit]\nhardware = "lab.json"\n')
    monkeypatch.chdir(tmp_path)
    assert tritonaudit("hardware", "LAB-1").out.startswith("LAB-1: our lab's GPU\n")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        (json.dumps({"sources": {}}), "has no `parts`"),
        (json.dumps(OWN).replace('"place": "1", ', ""), "parts.LAB-1.figures[0].printed: has no `place`"),
    ],
)
def test_a_bad_file_is_named_with_the_key(tritonaudit: Command, tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "lab.json"
    file.write_text(text)
    ran = tritonaudit("hardware", "--hardware", file)
    assert ran.code == 2
    assert f"{file}: {message}" in ran.err
