"""Parts and their figures: each has a source, says what the source says, and none is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tritonaudit.hardware
from tritonaudit.hardware.part_file import PartFileError, parse_parts, read_part_file
from tritonaudit.hardware.parts import BANDWIDTH, L2, L3, MULTIPROCESSORS, known_parts, part_named, part_of_device
from tritonaudit.hardware.roofline import Figure, Work

FOLDER = Path(tritonaudit.hardware.__file__).parent
DATA = json.loads((FOLDER / "parts.json").read_text("utf-8"))
SCHEMA = json.loads((FOLDER / "parts.schema.json").read_text("utf-8"))


def statements() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every number of the file with where it stands."""
    for name, part in DATA["parts"].items():
        for figure in part["figures"]:
            for statement in (figure, *figure.get("conflicts", ())):
                if statement["printed"] is not None:
                    yield f"{name} {figure['figure']} {figure.get('operands', '')}", statement


@pytest.mark.parametrize("name", known_parts())
def test_every_figure_has_a_source(name: str) -> None:
    part = known_parts()[name]
    known = [figure for figure in (*part.figures, *(rate.figure for rate in part.rates)) if figure.value is not None]
    assert known
    sources = [figure.source for figure in known] + [c.source for figure in known for c in figure.conflicts]
    assert all(source and source.document and source.place and source.quote for source in sources)


def test_every_number_stands_in_the_words_quoted() -> None:
    """`3,350 GB/sec` and `4.8TB/s` hold 3350 and 4.8, whatever is derived from them."""
    missing = [
        (where, statement["printed"], statement["quote"])
        for where, statement in statements()
        if not any(float(number) == statement["printed"] for number in numbers(statement["quote"]))
    ]
    assert missing == []


def numbers(quote: str) -> list[str]:
    """The numbers of a text, in which commas may part thousands."""
    return re.findall(r"\d+(?:\.\d+)?", re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", quote))


def test_no_source_is_unused() -> None:
    assert set(DATA["sources"]) == {statement["source"] for _, statement in statements()}


def test_no_device_is_two_parts() -> None:
    devices = [device for part in known_parts().values() for device in part.devices]
    assert len(devices) == len(set(devices))


def test_the_file_keeps_to_its_schema() -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema validates the file")
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.Draft202012Validator(SCHEMA).validate(DATA)


@pytest.mark.parametrize(
    ("name", "bandwidth", "half", "single", "multiprocessors"),
    [
        ("V100-SXM2", 900, 125, 15.7, 80),
        ("A100-SXM-40GB", 1555, 312, 19.5, 108),
        ("A100-SXM-80GB", 2039, 312, 19.5, 108),
        ("H100-SXM", 3350, 989.4, 66.9, 132),
        ("H100-PCIe", 2000, 756.5, 51, 114),
        ("H200", 4800, 989.5, 67, 132),
        ("B200", 7700, 2250, 75, 148),
        ("L4", 300, 121, 30.3, 58),
        ("RTX-4090", 1008, 165.2, 82.6, 128),
        ("RTX-5090", 1792, 209.5, 104.8, 170),
        ("MI250X-GCD", 1638.4, 191.5, None, 110),
        ("MI300X", 5325, 1307.4, 163.4, 304),
        ("MI355X", 8000, 2516.6, 157.3, 256),
    ],
)
def test_dense_rates_of_one_device(
    name: str, bandwidth: float, half: float, single: float | None, multiprocessors: int
) -> None:
    part = known_parts()[name]
    assert part.figure(BANDWIDTH).value == bandwidth
    assert part.rate("float16", is_matrix=True).value == half
    assert part.rate("float32", is_matrix=False).value == single
    assert part.figure(MULTIPROCESSORS).value == multiprocessors


def test_a_geforce_multiplies_at_half_speed_into_float32() -> None:
    part = known_parts()["RTX-4090"]
    by_accumulator = {r.accumulator: r.figure.value for r in part.rates if r.is_matrix and r.operands == "float16"}
    assert by_accumulator == {"float32": 165.2, "float16": 330.3}
    assert part.rate("float16", is_matrix=True).name == "matrix rate, float16 into float32"
    assert part.rate("float8_e4m3fn", is_matrix=True).value == 330.3


def test_sums_of_float16_are_faster_there_but_not_impossible() -> None:
    """A product of 330.3 GFLOP takes 2 ms with sums of float32, and half of that with sums of float16."""
    work = Work(330.4e9, "counted", 1e6, "counted", "float16", is_matrix=True)
    rooflines = [known_parts()["RTX-4090"].roofline(work, milliseconds) for milliseconds in (1.05, 0.9)]
    assert [roofline.roof_milliseconds for roofline in rooflines] == [2.0, 2.0]
    assert [roofline.is_impossible for roofline in rooflines] == [False, True]
    assert known_parts()["H100-SXM"].roofline(work).limit is None


def test_what_was_derived_says_how() -> None:
    part = known_parts()["H100-PCIe"]
    assert "half of what is printed, which is with 2:4 sparsity" in part.rate("float16", is_matrix=True).note
    assert known_parts()["B200"].rate("float32", is_matrix=False).note == "what is printed for 8, divided by 8"


def test_products_of_float32_have_the_rate_of_tf32() -> None:
    rate = known_parts()["H100-SXM"].rate("float32", is_matrix=True)
    assert (rate.name, rate.value) == ("matrix rate, tfloat32", 494.7)
    assert "may run as TF32" in rate.note


def test_conflicts_are_kept() -> None:
    bandwidth = known_parts()["L4"].figure(BANDWIDTH)
    assert bandwidth.value == 300
    assert [(c.value, c.source.document.split(",")[0]) for c in bandwidth.conflicts] == [(3350, "PyTorch 2.13.0")]


def test_where_sources_disagree_nothing_is_claimed() -> None:
    cache = known_parts()["L40S"].figure(L2)
    assert cache.value is None
    assert {conflict.value for conflict in cache.conflicts} == {48 * 2**20, 96 * 2**20}


def test_the_last_cache() -> None:
    assert (known_parts()["MI300X"].cache.name, known_parts()["MI300X"].cache.value) == (L3, 256 * 2**20)
    assert (known_parts()["H100-SXM"].cache.name, known_parts()["H100-SXM"].cache.value) == (L2, 50 * 2**20)


@pytest.mark.parametrize("device", ["NVIDIA H100 80GB HBM3 MIG 1g.10gb", "NVIDIA H100 NVL", "NVIDIA Rubin", ""])
def test_nothing_is_known_of_an_unknown_device(device: str) -> None:
    part = part_of_device(device, known_parts())
    assert part.name == device
    assert [figure.value for figure in part.shown] == [None] * len(part.shown)
    work = Work(1e9, "counted", 1e9, "counted", "float16", is_matrix=True)
    roofline = part.roofline(work, milliseconds=1.0)
    assert (roofline.roof_milliseconds, roofline.reached, roofline.is_impossible) == (None, None, False)
    assert roofline.missing == (BANDWIDTH, "matrix rate, float16")


def test_a_device_by_the_name_that_torch_gives_it() -> None:
    assert part_of_device("NVIDIA H100 80GB HBM3", known_parts()).name == "H100-SXM"
    assert part_of_device("AMD Instinct MI300X", known_parts()).name == "MI300X"


def test_a_part_by_its_name() -> None:
    assert part_named("h100-sxm", known_parts()).name == "H100-SXM"
    assert part_named("NVIDIA H200", known_parts()).name == "H200"
    with pytest.raises(ValueError, match="there is no part 'H100-SMX'; did you mean 'H100-SXM'"):
        part_named("H100-SMX", known_parts())


BANDWIDTH_FIGURE = {
    "figure": "bandwidth",
    "printed": 2.5,
    "unit": "TB/s",
    "source": "ours",
    "place": "1",
    "quote": "2.5",
}


def parsed(*figures: dict[str, Any], **part: Any) -> Any:
    parts = {"X1": {"title": "an X1", "figures": list(figures), **part}}
    return parse_parts(json.dumps({"sources": {"ours": "the X1's sheet"}, "parts": parts}), "x.json")["X1"]


def test_a_users_file_adds_parts_and_replaces_ours(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    part = {"title": "mine", "devices": ["X1 GPU"], "target": "sm_90", "figures": [BANDWIDTH_FIGURE]}
    file.write_text(
        json.dumps({"sources": {"ours": "the X1's sheet"}, "parts": {"X1": part, "T4": part | {"devices": []}}})
    )
    parts = known_parts(file)
    assert list(parts)[:3] == ["X1", "T4", "V100-SXM2"]
    assert part_of_device("X1 GPU", parts).figure(BANDWIDTH).value == 2500
    assert part_of_device("Tesla T4", parts).figure(BANDWIDTH).value is None
    assert parts["X1"].rate("float16", is_matrix=True).value is None


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in BANDWIDTH_FIGURE.items() if name != key}


@pytest.mark.parametrize(
    ("figure", "message"),
    [
        (without("source"), "parts.X1.figures[0].printed: has no `source`"),
        (without("quote"), "parts.X1.figures[0].printed: has no `quote`"),
        (BANDWIDTH_FIGURE | {"quote": " "}, "parts.X1.figures[0].quote: is ' '; a text is needed"),
        (BANDWIDTH_FIGURE | {"source": "theirs"}, "parts.X1.figures[0].source: is 'theirs'; known are 'ours'"),
        (BANDWIDTH_FIGURE | {"printed": "2"}, "parts.X1.figures[0].printed: is '2'; a number above 0 is needed"),
        (BANDWIDTH_FIGURE | {"printed": True}, "parts.X1.figures[0].printed: is True; a number above 0 is needed"),
        (BANDWIDTH_FIGURE | {"unit": "TFLOPS"}, "parts.X1.figures[0].unit: 'bandwidth' is not given in 'TFLOP/s'"),
        (without("unit"), "parts.X1.figures[0].printed: 'bandwidth' is not given in 'a bare number'"),
        (BANDWIDTH_FIGURE | {"of": 0}, "parts.X1.figures[0].of: is 0; a number of devices is needed"),
        (BANDWIDTH_FIGURE | {"sparse": True}, "parts.X1.figures[0].sparse: has no meaning for 'bandwidth'"),
        (BANDWIDTH_FIGURE | {"value": 1}, "parts.X1.figures[0].value: is not known here"),
        (BANDWIDTH_FIGURE | {"figure": "speed"}, "parts.X1.figures[0].figure: is 'speed'; known are 'bandwidth'"),
        (
            BANDWIDTH_FIGURE | {"figure": "matrix rate", "unit": "TFLOPS"},
            "parts.X1.figures[0]: a rate needs `operands`",
        ),
        (BANDWIDTH_FIGURE | {"conflicts": [{"printed": 1}]}, "parts.X1.figures[0].conflicts[0]: has no `place`"),
    ],
)
def test_a_bad_figure_is_refused_by_its_key(figure: dict[str, Any], message: str) -> None:
    with pytest.raises(PartFileError) as caught:
        parsed(figure)
    assert str(caught.value).startswith(f"x.json: {message}")


def test_a_figure_is_given_once() -> None:
    with pytest.raises(PartFileError, match=r"x\.json: parts\.X1\.figures\[1\]: is given twice"):
        parsed(BANDWIDTH_FIGURE, BANDWIDTH_FIGURE)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(PartFileError, match=r"none\.json: cannot be read: No such file"):
        read_part_file(tmp_path / "none.json")
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(PartFileError, match=r"bad\.json: is not JSON"):
        read_part_file(tmp_path / "bad.json")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(PartFileError, match=r"list\.json: is not an object"):
        read_part_file(tmp_path / "list.json")


def test_an_unknown_figure_needs_no_source() -> None:
    assert parsed({"figure": "l2", "printed": None}).figure(L2) == Figure(L2, None, "B")
