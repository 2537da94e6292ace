"""The pictures of the page: what is drawn where, and what is said in place of a picture."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ran import FAR, run, trial
from tests.ran import section as ran_section
from tests.report.html.page import Element
from tests.report.html.test_page import check, page, rows
from tests.report.html.timed import copy, matmul, section, subject
from tritonaudit.capture.launch import KernelRef
from tritonaudit.measure.facts import Clock, Counter, Profile
from tritonaudit.report.html.plot import Axis, Plot, quantity
from tritonaudit.report.section import Section
from tritonaudit.suites.error_map import ErrorMap
from tritonaudit.suites.facts import Symptom
from tritonaudit.suites.outcome import CaseOutcome, Sighting

positive = st.floats(1e-12, 1e18)


def part(anchor: str, *sections: Section) -> Element:
    root = page(*sections)
    check(root)
    return root.one("section", id=anchor)


def pictures(element: Element, class_: str = "plot") -> list[Element]:
    return element.all("svg", class_=class_)


# axes


@given(st.lists(positive, min_size=1, max_size=9), st.sampled_from(["", "s", "B/s"]))
def test_every_value_has_its_place_and_some_ticks_are_there(values: list[float], unit: str) -> None:
    axis = Axis.over("amount", unit, values)
    assert all(0 < axis.part(value) < 1 for value in values)
    assert 2 <= len(axis.ticks) + (len(axis.ticks) == 1) <= 12
    assert all(axis.low <= tick <= axis.high for tick in axis.ticks)
    plot = Plot(axis, axis)
    assert plot.at(axis.low, axis.low)[1] > plot.at(axis.high, axis.high)[1]


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (3.35e12, "B/s", "3.35 TB/s"),
        (1e-6, "s", "1 µs"),
        (0.001, "s", "1 ms"),
        (999.9, "s", "999.9 s"),
        (1000.0, "B", "1 kB"),
        (0.25, "", "0.25"),
        (200.0, "", "200"),
        (10000.0, "", "10 k"),
        (1e20, "B", "1e+05 PB"),
    ],
)
def test_quantities_have_prefixes(value: float, unit: str, shown: str) -> None:
    assert quantity(value, unit) == shown


# times


def test_each_size_has_a_row_of_times() -> None:
    performance = part("performance", section(subject("matmul", *matmul())))
    head, *sizes = rows(performance.all("table")[0])
    assert head == [
        "Size",
        "Triton (ms)",
        "PyTorch (ms)",
        "torch.compile (ms)",
        "liger (ms)",
        "Speedup",
        "HW Efficiency",
    ]
    assert [size[0].split()[0] for size in sizes] == ["small", "medium", "m=3000", "large"]
    assert sizes[2][4] == "➖"
    assert sizes[3][5:] == ["0.93 (0.91 to 0.95)", "80% / 52%"]
    assert "m=3000 n=3000 k=3000 float16: it raises <NotImplementedError>" in performance.text


def test_each_dtype_has_a_picture_of_times_and_one_of_bandwidths() -> None:
    performance = part("performance", section(subject("matmul", *matmul(), *matmul("bfloat16"))))
    labels = [one.attributes["aria-label"] for one in pictures(performance)]
    assert labels == [
        f"{what} against size of matmul in {dtype}"
        for dtype in ("float16", "bfloat16")
        for what in ("Time", "Bandwidth")
    ]
    times = pictures(performance)[0]
    assert len(times.all("g", class_="marker")) == len(times.all("path", class_="interval")) == 15
    assert len({one.attributes["class"] for one in times.all("g", class_="marker")}) == 4
    titles = [one.text for one in times.all("title")]
    assert titles[3] == "Triton, m=8192 n=8192 k=8192 float16: 2.118 ms (2.034 ms to 2.203 ms)"


def test_a_line_goes_through_sizes_that_differ_by_nothing_else() -> None:
    performance = part("performance", section(subject("copy", *copy())))
    triton = pictures(performance)[0].all("polyline")[0]
    assert len((triton.attributes["points"] or "").split()) == 3
    assert len(pictures(performance)[0].all("g", class_="series-0")) == 4


def test_without_bytes_sizes_are_products_and_there_is_no_bandwidth() -> None:
    uncounted = [replace(row, work=None, roofline=None, by_datasheet=None) for row in matmul()]
    performance = part("performance", section(subject("matmul", *uncounted)))
    (picture,) = pictures(performance)
    assert "product of the sizes" in [one.text for one in picture.all("text")]
    assert "UNKNOWN" in rows(performance.all("table")[0])[1]


def test_how_it_was_timed_and_what_was_counted_is_folded_away() -> None:
    clocked = replace(matmul()[0], clock=Clock(1980, 1975, 1980), configs=("BLOCK=128, num_warps=8",))
    profile = Profile(
        KernelRef("kernels.py", "kernel", 1), clocked.case, (Counter("DRAM read", 2e9, "B", "dram_read", 41),)
    )
    performance = part("performance", section(replace(subject("matmul", clocked), profiles=(profile,))))
    timing, counted = (one.one("table") for one in performance.all("details"))
    assert rows(timing)[1] == [
        *("small  m=512 n=512 k=512 float16", "Triton", "0.00463", "0.0146", "8.0%", "40", "CUDA events"),
        *("1980 to 1975 of 1980", "BLOCK=128, num_warps=8"),
    ]
    assert rows(counted)[1] == ["kernel, m=512 n=512 k=512 float16", "DRAM read", "2e+09 B", "41", "dram_read"]


def test_where_nothing_was_measured_it_says_why() -> None:
    performance = part("performance", section(reason="there is no GPU"))
    assert "NOT RUN: nothing was measured: there is no GPU." in performance.text
    assert not pictures(performance)


def test_a_subject_without_times_has_no_picture() -> None:
    performance = part("performance", section(subject("broken", reason="its process was killed")))
    assert "its process was killed" in performance.text
    assert not pictures(performance)


# the roofline


def test_the_roofline_has_its_roofs_and_a_point_for_each_size() -> None:
    roofline = part("roofline", section(subject("matmul", *matmul())))
    (picture,) = pictures(roofline)
    assert len(picture.all("g", class_="marker")) == 4
    lines = [one.attributes["class"] for one in picture.all("polyline")]
    assert lines == [
        "line roof measured",
        "line target",
        "line ridge measured",
        "line roof datasheet",
        "line ridge datasheet",
    ]
    legend = [one.text.strip() for one in roofline.one("ul", class_="legend").all("li")]
    assert legend == [
        "measured: 2.9 TB/s, 650 TFLOP/s (measured rate), ridge at 224.1 FLOP/B",
        "datasheet: 3.35 TB/s, 989.4 TFLOP/s (matrix rate), ridge at 295.3 FLOP/B",
        "float16",
    ]
    assert picture.all("title")[-1].text.endswith("519 TFLOP/s at 2731 FLOP/B, 80% of the measured roof")


def test_no_point_lies_outside_the_picture() -> None:
    for picture in pictures(part("roofline", section(subject("matmul", *matmul(), *matmul("bfloat16"))))):
        numbers = [
            float(number)
            for one in picture.all("polyline")
            for number in re.findall(r"-?[\d.]+", one.attributes["points"] or "")
        ]
        assert min(numbers) >= 0
        assert max(numbers) <= 640


def test_every_figure_has_its_source() -> None:
    figures = rows(part("roofline", section(subject("matmul", *matmul()))).all("table")[0])[1:]
    assert ["measured copy bandwidth", "2,900 GB/s", "a <datasheet>, page 2: “3.35 TB/s & more”"] in figures
    assert all(source for *_, source in figures)


def test_without_arithmetic_there_is_no_roofline_to_draw() -> None:
    roofline = part("roofline", section(subject("copy", *copy())))
    assert not pictures(roofline)
    assert "it does no arithmetic, and only its bandwidth counts" in roofline.text


# maps of errors


def wrong(*shares: tuple[float | None, ...], count: int = 7, shape: tuple[int, ...] = (64, 1000)) -> CaseOutcome:
    made = trial({"n": 1000}, close=FAR)
    width = shape[-1] if len(shape) > 1 else 500
    return replace(made, errors=(ErrorMap("output", shape, count, width, 32, 500, shares),))


def test_a_map_shows_tiles_by_their_share() -> None:
    errors = part("errors", ran_section(run("op", wrong((0.0, 1.0), (0.0, 0.25)))))
    (picture,) = pictures(errors, "map")
    assert picture.one("path", class_="wrong").attributes["d"] == "M10.5 0.5h9.0v9.0h-9.0zM12.8 12.8h4.5v4.5h-4.5z"
    assert errors.one("figcaption").text == (
        "op at n=1000 float32: output (64 × 1000) is wrong in 7 of 64,000 elements, in rows 0 to 63 and columns 500 to"
        " 999; each tile is 32 × 500 elements, the fuller the more wrong"
    )


def test_few_maps_are_shown_and_the_others_counted() -> None:
    some = [wrong((0.5, 0.0)) for _ in range(9)]
    whole = wrong((1.0, 1.0), count=64000)
    errors = part("errors", ran_section(run("op", *some, whole, trial())))
    assert len(pictures(errors, "map")) == 6
    assert "op is wrong in parts of its results in 3 further cases." in errors.text
    assert "op is wrong in every element of its results in 1 case." in errors.text


def test_a_tile_without_elements_is_not_drawn() -> None:
    errors = part("errors", ran_section(run("op", wrong((0.5, 0.5), (0.5, None), shape=(1000,)))))
    (picture,) = pictures(errors, "map")
    assert (picture.one("path", class_="ground").attributes["d"] or "").count("M") == 3


def test_without_maps_it_says_why() -> None:
    seen = Sighting(Symptom.WRONG_RESULT, KernelRef("kernels.py", "kernel", 1), None, "output: wrong")
    unkept = replace(trial(), sightings=(seen,))
    assert "No map: there is no subject to run: tritonaudit init writes one." in part("errors").text
    assert "No map: no result that was compared is wrong." in part("errors", ran_section(run("op"))).text
    assert "positions of the wrong elements were not recorded" in part("errors", ran_section(run("op", unkept))).text
