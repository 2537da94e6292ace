"""What a `# tritonaudit: ignore` comment suppresses, and what is said of one that suppresses nothing."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest

from tritonaudit.finding import Confidence, Severity, Span
from tritonaudit.rule import Rule
from tritonaudit.source.suppressions import Suppressions, read_suppressions


def rule(code: str, name: str) -> type[Rule]:
    members = {"code": code, "name": name, "summary": "A summary.", "since": "0.1"}
    return type(code, (Rule,), {**members, "severity": Severity.ERROR, "confidence": Confidence.HIGH})


RULES = (rule("TAC101", "offset-overflow"), rule("TAM101", "unmasked-access"), rule("TAM102", "wrong-mask"))


def read(text: str) -> Suppressions:
    text = dedent(text)
    return read_suppressions(text, ast.parse(text), RULES)


def at(line: int) -> Span:
    return Span(line, 5, line, 9)


def lines(text: str, code: str = "TAM101") -> list[int]:
    """The lines on which a finding of the code is suppressed."""
    suppressions = read(text)
    assert suppressions.malformed == ()
    return [line for line in range(1, text.count("\n") + 2) if suppressions.suppress(code, at(line))]


def codes(text: str) -> list[str]:
    """The codes that are suppressed on the first line."""
    suppressions = read(text)
    return [rule.code for rule in RULES if suppressions.suppress(rule.code, at(1))]


def faults(text: str) -> list[str]:
    return [fault.message for fault in read(text).malformed]


@pytest.mark.parametrize(
    ("directive", "expected"),
    [
        ("ignore", ["TAC101", "TAM101", "TAM102"]),
        ("ignore the kernel pads its inputs", ["TAC101", "TAM101", "TAM102"]),
        ("ignore[TAM101]", ["TAM101"]),
        ("ignore[unmasked-access] padded", ["TAM101"]),
        ("ignore [ TAM101 , offset-overflow, ]", ["TAC101", "TAM101"]),
        ("ignore[TAM]", ["TAM101", "TAM102"]),
        ("ignore[ALL]", ["TAC101", "TAM101", "TAM102"]),
        ("ignore[TAC] # tritonaudit: ignore[TAM102]", ["TAC101", "TAM102"]),
    ],
)
def test_selectors_are_codes_names_and_prefixes_and_none_means_all(directive, expected):
    assert codes(f"x = 1  # tritonaudit: {directive}") == expected
    assert codes(f"x = 1  # noqa: E501  #tritonaudit:{directive}") == expected
    assert faults(f"x = 1  # tritonaudit: {directive}") == []


def test_at_the_end_of_a_line_it_speaks_of_that_line():
    assert lines("a = 1\nb = 2  # tritonaudit: ignore\nc = 3\n") == [2]


@pytest.mark.parametrize("line", range(2, 7))
def test_in_a_statement_of_several_lines_it_speaks_of_the_whole_statement(line):
    text = ["a = 1", "b = load(", "    pointer,", "", "    mask,", ")", "c = 3"]
    text[line - 1] += "  # tritonaudit: ignore"
    assert lines("\n".join(text)) == [2, 3, 4, 5, 6]


def test_a_line_continued_by_a_backslash_is_one_statement():
    assert lines("a = 1 + \\\n    2  # tritonaudit: ignore\nb = 3\n") == [1, 2]


def test_on_a_line_of_its_own_it_speaks_of_the_next_statement():
    assert lines("# tritonaudit: ignore\n\n# why\na = (\n    1\n)\nb = 2\n") == [4, 5, 6]


def test_two_lines_of_their_own_speak_of_the_same_statement():
    text = "# tritonaudit: ignore[TAM]\n# tritonaudit: ignore[TAC]\na = 1\nb = 2\n"
    assert lines(text, "TAM101") == lines(text, "TAC101") == [3]


def test_statements_that_share_a_line_share_its_directive():
    assert lines("# tritonaudit: ignore\na = 1; b = f(\n    2)\nc = 3\n") == [2, 3]


KERNEL = """\
a = 1
@triton.jit
@other(
    1
)
def kernel(
    pointer,
    size,
):
    for i in range(size):
        load(pointer)
    store(pointer)

b = 2
"""


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (6, range(2, 13)),
        (9, range(2, 13)),
        (7, range(6, 10)),
        (2, [2]),
        (4, range(3, 6)),
        (10, [10]),
        (11, [11]),
    ],
)
def test_on_the_line_of_a_def_it_speaks_of_the_function_and_within_its_header_of_that(line, expected):
    text = KERNEL.splitlines()
    text[line - 1] += "  # tritonaudit: ignore"
    assert lines("\n".join(text)) == list(expected)


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        (1, [2]),
        (2, range(3, 14)),
        (3, [2, *range(4, 14)]),
        (6, [2, 3, 4, 5, *range(7, 14)]),
        (10, range(11, 13)),
        (11, [12]),
        (14, [15]),
    ],
)
def test_above_a_def_or_a_loop_it_speaks_of_all_of_it(above, expected):
    text = KERNEL.splitlines()
    text.insert(above - 1, " " * (len(text[above - 1]) - len(text[above - 1].lstrip())) + "# tritonaudit: ignore")
    assert [line for line in lines("\n".join(text)) if line != above] == list(expected)


def test_methods_classes_and_coroutines_are_definitions_too():
    assert lines("class A:  # tritonaudit: ignore\n    x = 1\n    y = 2\nz = 3\n") == [1, 2, 3]
    assert lines("async def f():  # tritonaudit: ignore\n    x = 1\nz = 3\n") == [1, 2]
    assert lines("class A:\n    # tritonaudit: ignore\n    def f(self):\n        x = 1\n    y = 2\n") == [3, 4]


def test_a_finding_is_judged_by_the_line_where_it_starts():
    suppressions = read("a = 1\nb = 2  # tritonaudit: ignore\n")
    assert suppressions.suppress("TAM101", Span(2, 1, 9, 1))
    assert not suppressions.suppress("TAM101", Span(1, 1, 2, 4))


@pytest.mark.parametrize("place", [0, 1, 3])
def test_ignore_file_speaks_of_the_file_from_anywhere_at_the_top_level(place):
    text = ["a = 1", "def f():", "    b = 2"]
    text.insert(place, "# tritonaudit: ignore-file[TAM] generated")
    assert lines("\n".join(text)) == [1, 2, 3, 4]
    assert lines("\n".join(text), "TAC101") == []


def test_ignore_file_alone_in_an_empty_file_is_fine():
    assert faults("# tritonaudit: ignore-file\n") == []


def test_the_reason_and_the_place_are_kept():
    [directive] = read("ä = 1  # noqa  # tritonaudit: ignore[TAM101]  padded, see #12  \n").directives
    assert directive.reason == "padded, see #12"
    assert directive.span == Span(1, 16, 1, 64)


@pytest.mark.parametrize(
    "text",
    [
        "x = '# tritonaudit: ignore'\n",
        "x = '''\n# tritonaudit: ignroe\n'''\n",
        "x = f'{a}# tritonaudit: ignore'\n",
        "# see the docs of tritonaudit: they explain it\nx = 1\n",
        "x = 1  # nothing\n",
    ],
)
def test_what_is_no_directive_does_nothing(text):
    assert read(text) == Suppressions()


def test_a_file_that_does_not_mention_the_tool_is_not_looked_at():
    # Text that is no Python at all would be found out by any look at it.
    assert read_suppressions("x = (((", ast.Module([], []), RULES) == Suppressions()


@pytest.mark.parametrize(
    ("directive", "fault"),
    [
        ("ignroe[TAM101]", "'ignroe' is not a directive; did you mean 'ignore'?"),
        ("ignore_file", "'ignore_file' is not a directive; did you mean 'ignore-file'?"),
        ("skip", "'skip' is not a directive; there are 'ignore' and 'ignore-file'"),
        ("", "the directive is missing; there are 'ignore' and 'ignore-file'"),
        ("ignore[]", "the brackets are empty; name the rules, or write 'ignore' for every rule"),
        ("ignore[ , ]", "the brackets are empty; name the rules, or write 'ignore' for every rule"),
        ("ignore[TAM101", "the bracket is not closed"),
        ("ignore[TAC110]", "no installed rule has the code 'TAC110'; did you mean 'TAC101'?"),
        ("ignore[wrong-maks]", "no rule has the code, name or prefix 'wrong-maks'; did you mean 'wrong-mask'?"),
        ("ignore: TAM101", "':' after 'ignore'; rules go in brackets, as in 'ignore[TAM101]', then the reason"),
        ("ignore(TAM101)", "'(' after 'ignore'; rules go in brackets, as in 'ignore[TAM101]', then the reason"),
        ("ignore TAM101", "rules go in brackets: 'ignore[TAM101]'; without them it would mean every rule"),
        ("ignore wrong-mask", "rules go in brackets: 'ignore[wrong-mask]'; without them it would mean every rule"),
        ("ignore-file", "'ignore-file' goes on a line of its own at the top level"),
    ],
)
def test_a_malformed_directive_is_reported_and_suppresses_nothing(directive, fault):
    text = f"x = 1  # tritonaudit: {directive}"
    assert faults(text) == [fault]
    assert read(text).malformed[0].span.column == 8
    assert codes(text) == []


@pytest.mark.parametrize(
    ("comment", "fault"),
    [
        ("# noqa: TAM101", "this is another tool's comment; write `# tritonaudit: ignore[TAM101]`, then the reason"),
        ("# noqa: E501, TAM101 padded", "write `# tritonaudit: ignore[TAM101]`"),
        ("# type: ignore[unmasked-access]", "write `# tritonaudit: ignore[unmasked-access]`"),
        ("# tritonaudit ignore[TAM101]", "did you mean `# tritonaudit: ignore[TAM101]`?"),
        ("# triton-audit: ignore[TAM101] padded", "did you mean `# tritonaudit: ignore[TAM101]`?"),
        ("# TritonAudt: ignore-file[TAM101]", "did you mean `# tritonaudit: ignore-file[TAM101]`?"),
    ],
)
def test_what_was_meant_for_us_and_is_not_read_is_reported(comment, fault):
    suppressions = read(f"x = 1  {comment}\n")
    (malformed,) = suppressions.malformed
    assert fault in malformed.message
    assert (malformed.span.line, malformed.span.column) == (1, 8)
    assert not suppressions.directives


@pytest.mark.parametrize(
    "comment",
    ["# noqa", "# noqa: E501", "# type: ignore[attr-defined]", "# mypy: ignore[x]", "# to ignore TAM101 is wrong"],
)
def test_comments_of_other_tools_are_theirs(comment):
    assert read(f"x = 1  {comment}\n") == Suppressions()


def test_a_rule_that_is_not_installed_is_said_to_be_so():
    remedies = [
        read(f"x = 1  # tritonaudit: ignore[{selector}]\n").malformed[0].remedy for selector in ("TAB190", "wrong-maks")
    ]
    assert remedies == [
        "correct the code, or install the package that has the rule where tritonaudit runs",
        "write `# tritonaudit: ignore[TAM101] reason`",
    ]


def test_the_known_selectors_of_a_list_stay_in_force_beside_an_unknown_one():
    text = "x = 1  # tritonaudit: ignore[TAM101, TAX999]"
    assert codes(text) == ["TAM101"]
    assert faults(text) == ["no installed rule has the code 'TAX999'"]


def test_ignore_file_inside_a_function_is_misplaced():
    assert faults("def f():\n    # tritonaudit: ignore-file\n    x = 1\n") == [
        "'ignore-file' goes on a line of its own at the top level"
    ]


@pytest.mark.parametrize(
    "text",
    ["x = 1\n# tritonaudit: ignore\n", "def f():\n    x = 1\n    # tritonaudit: ignore\n\ndef g():\n    y\n"],
)
def test_a_directive_with_no_statement_behind_it_in_its_block_is_reported(text):
    assert faults(text) == ["no statement follows that it could apply to"]


def test_the_comment_may_stand_further_left_than_its_statement():
    assert lines("def f():\n# tritonaudit: ignore\n    x = 1\n    y = 2\n") == [3]


def idle(text: str, *ran: str, suppressing: tuple[str, ...] = ()) -> list[tuple[int, tuple[str, ...], bool]]:
    """The unused selectors, where these codes ran and these were suppressed on the first line."""
    suppressions = read(text)
    uses = {use for code in suppressing for use in suppressions.suppress(code, at(1))}
    return [(unused.directive.span.line, unused.selectors, unused.whole) for unused in suppressions.unused(uses, ran)]


def test_selectors_that_suppressed_nothing_are_unused():
    text = "x = 1  # tritonaudit: ignore[TAM101, wrong-mask]\ny = 2  # tritonaudit: ignore[TAM101]\n"
    assert idle(text, "TAM101", "TAM102", suppressing=("TAM101",)) == [
        (1, ("wrong-mask",), False),
        (2, ("TAM101",), True),
    ]
    assert idle(text, "TAM101", "TAM102", suppressing=("TAM101", "TAM102")) == [(2, ("TAM101",), True)]


@pytest.mark.parametrize(
    ("selectors", "ran", "unused"),
    [
        ("[TAM101]", ("TAC101",), False),
        ("[TAM101]", ("TAM101",), True),
        ("[TAM]", ("TAM101",), False),
        ("[TAM]", ("TAM101", "TAM102"), True),
        ("", ("TAM101", "TAM102"), False),
        ("", ("TAC101", "TAM101", "TAM102"), True),
    ],
)
def test_only_a_selector_whose_every_rule_ran_can_be_unused(selectors, ran, unused):
    assert bool(idle(f"x = 1  # tritonaudit: ignore{selectors}", *ran)) is unused


def test_equal_directives_on_two_lines_are_distinguished():
    text = "x = 1  # tritonaudit: ignore[TAM101]\ny = 1  # tritonaudit: ignore[TAM101]\n"
    assert idle(text, "TAM101", suppressing=("TAM101",)) == [(2, ("TAM101",), True)]
