"""What a configuration file may say, and what is said of one that is wrong."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import jsonschema
import pytest

import tritonaudit.config
from tritonaudit.config import DEFAULT_EXCLUDE, Config, ConfigError, load_config
from tritonaudit.finding import Confidence, Problem, Severity
from tritonaudit.rule import Rule
from tritonaudit.target import DEFAULT, KNOWN

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Unmasked(Rule):
    code, name, since = "TAM101", "unmasked-access", "0.1"
    summary = "A block access can run past the end of its tensor."
    severity, confidence = Severity.ERROR, Confidence.HIGH


RULES = (Unmasked,)
SCHEMA = json.loads(Path(tritonaudit.config.__file__).with_name("config.schema.json").read_text(encoding="utf-8"))


def load(folder: Path, text: str, name: str = "tritonaudit.toml") -> Config:
    (folder / name).write_text(text, encoding="utf-8")
    return load_config(folder, rules=RULES)


def problems(folder: Path, text: str, name: str = "tritonaudit.toml") -> list[tuple[int | None, str]]:
    with pytest.raises(ConfigError) as caught:
        load(folder, text, name)
    assert {problem.path for problem in caught.value.problems} == {str(folder / name)}
    return [(problem.line, problem.message) for problem in caught.value.problems]


def test_a_project_that_says_nothing_gets_the_defaults(tmp_path):
    assert load_config(tmp_path) == Config(tmp_path)
    assert load(tmp_path, "[tool.ruff]\nselect = 3\n", "pyproject.toml") == Config(tmp_path)
    assert Config(tmp_path).target.versions == tuple(version for version in KNOWN if version >= (3, 2))


def test_every_key_is_read(tmp_path):
    text = """
    [tool.tritonaudit]
    select = ["TAM"]
    ignore = ["unmasked-access"]
    extend-select = ["TAM101"]
    exclude = ["vendor/"]
    extend-exclude = ["old/"]
    respect-gitignore = false
    force-exclude = true
    pedantic = true
    fail-on = "warning"
    target-triton = ">=3.2,<3.8"
    [tool.tritonaudit.per-file-ignores]
    "tests/**" = ["ALL"]
    "a.py" = []
    """
    assert load(tmp_path, text, "pyproject.toml") == Config(
        root=tmp_path,
        select=("TAM",),
        ignore=("unmasked-access",),
        extend_select=("TAM101",),
        per_file_ignores=(("tests/**", ("ALL",)), ("a.py", ())),
        exclude=("vendor/",),
        extend_exclude=("old/",),
        respect_gitignore=False,
        force_exclude=True,
        pedantic=True,
        fail_on=Severity.WARNING,
        target_triton=">=3.2,<3.8",
    )


def test_a_tritonaudit_toml_comes_before_the_pyproject_toml(tmp_path):
    (tmp_path / "pyproject.toml").write_text("[tool.tritonaudit]\npedantic = true\n")
    assert load_config(tmp_path).pedantic
    assert not load(tmp_path, 'fail-on = "info"\n').pedantic


def test_a_file_that_is_named_is_the_one_that_is_read(tmp_path):
    (tmp_path / "tritonaudit.toml").write_text("pedantic = false\n")
    (tmp_path / "other.toml").write_text("pedantic = true\n")
    config = load_config(tmp_path, tmp_path / "other.toml")
    assert config.pedantic
    assert config.root == tmp_path


def test_a_file_that_is_named_has_to_exist(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path, tmp_path / "gone.toml")
    assert caught.value.problems == (Problem(str(tmp_path / "gone.toml"), "cannot read it: No such file or directory"),)


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("pedantik = true\n", 1, "pedantik: there is no such key; did you mean 'pedantic'?"),
        ("\nextend_select = []\n", 2, "extend_select: there is no such key; did you mean 'extend-select'?"),
        ("colour = 1\n", 1, "colour: there is no such key"),
        ("select = 'ALL'\n", 1, "select: expected a list of strings, got 'ALL'"),
        ("ignore = [1]\n", 1, "ignore: expected a list of strings, got [1]"),
        ("pedantic = 1\n", 1, "pedantic: expected true or false, got 1"),
        ("fail-on = 'bad'\n", 1, "fail-on: expected one of error, warning, info, got 'bad'"),
        ("fail-on = []\n", 1, "fail-on: expected one of error, warning, info, got []"),
        ("target-triton = 3.2\n", 1, "target-triton: expected a version specifier such as '>=3.2', got 3.2"),
        ("hardware = 1\n", 1, "hardware: expected the path of a file, got 1"),
        ("per-file-ignores = []\n", 1, "per-file-ignores: expected a table of globs with a list of selectors"),
        ("[per-file-ignores]\n'a.py' = 'ALL'\n", 1, "per-file-ignores: expected a list of strings, got 'ALL'"),
    ],
)
def test_a_wrong_key_or_value_is_named_with_its_line(tmp_path, text, line, words):
    [(found_line, message)] = problems(tmp_path, text)
    assert found_line == line
    assert message.startswith(words)


def test_an_unwise_target_is_refused(tmp_path):
    [(line, message)] = problems(tmp_path, "pedantic = true\ntarget-triton = '>=4.0'\n")
    assert line == 2
    assert message == "target-triton: '>=4.0' admits none of the known Triton releases, 2.0 to 3.9"


def test_an_unknown_selector_is_found_in_its_own_line(tmp_path):
    text = """[tool.tritonaudit]
select = [
    "TAM101",
    "TAM110",
]
[tool.tritonaudit.per-file-ignores]
"tests/**" = ["TAM101"]
"bench/**" = ['unmasked-acess']
"""
    assert problems(tmp_path, text, "pyproject.toml") == [
        (4, "select: no rule has the code, name or prefix 'TAM110'; did you mean 'TAM101'?"),
        (
            8,
            "per-file-ignores: 'bench/**': no rule has the code, name or prefix 'unmasked-acess'; "
            "did you mean 'unmasked-access'?",
        ),
    ]


def test_all_that_is_wrong_is_reported_at_once(tmp_path):
    assert [line for line, _ in problems(tmp_path, "colour = 1\nselect = ['X']\nfail-on = 2\n")] == [1, 2, 3]


def test_the_error_reads_as_one_line_for_each_problem(tmp_path):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, "pedantic = 1\ncolour = 2\n")
    path = tmp_path / "tritonaudit.toml"
    assert str(caught.value).splitlines() == [
        f"{path}:1: pedantic: expected true or false, got 1",
        f"{path}:2: colour: there is no such key",
    ]


def test_a_key_of_another_table_is_not_taken_for_ours(tmp_path):
    text = "[tool.other]\nselect = ['X']\n[tool.tritonaudit]\nselect = ['X']\n"
    assert [line for line, _ in problems(tmp_path, text, "pyproject.toml")] == [4]


@pytest.mark.parametrize(
    ("data", "line", "words"),
    [
        (b"select = [\n", None, "not TOML: "),
        (b"a = 1\nb = = 2\n", 2, "not TOML: Invalid value"),
        (b"a = 1\nb = '\xff'\n", 2, "not UTF-8, as TOML must be"),
    ],
)
def test_a_file_that_is_no_toml_is_refused_with_the_line(tmp_path, data, line, words):
    (tmp_path / "tritonaudit.toml").write_bytes(data)
    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path)
    [problem] = caught.value.problems
    assert problem.message.startswith(words)
    assert line is None or problem.line == line


@pytest.mark.parametrize("text", ["tool = 3\n", "[tool]\ntritonaudit = 3\n"])
def test_a_table_that_is_none_is_refused(tmp_path, text):
    assert problems(tmp_path, text, "pyproject.toml") == [(None, "tool.tritonaudit should be a table")]


def test_a_byte_order_mark_does_no_harm(tmp_path):
    assert load(tmp_path, "\ufeffpedantic = true\n").pedantic


ACCEPTED = [
    "",
    "select = ['ALL', 'TA', 'TAM', 'TAM1', 'TAM101', 'unmasked-access']",
    "ignore = []\nextend-select = ['TAM101']",
    "per-file-ignores = { 'tests/**' = ['TAM101'], 'a.py' = [] }",
    "exclude = []\nextend-exclude = ['old/', '!old/new/']",
    "respect-gitignore = false\nforce-exclude = true\npedantic = true",
    "fail-on = 'info'",
    "target-triton = '3.6'",
    "target-triton = ' >= 3.2 , != 3.4, <3.8 '",
    "hardware = 'gpus.json'",
    "select = ['all', 'ta', 'tam', 'Tam1', 'tam101', 'Unmasked-Access']",
]
REJECTED = [
    "selekt = []",
    "extend_select = []",
    "select = 'ALL'",
    "select = [1]",
    "select = ['TAQ101']",
    "select = ['TAM1011']",
    "select = ['']",
    "ignore = ['Unmasked']",
    "per-file-ignores = ['a.py']",
    "per-file-ignores = { 'a.py' = 'TAM101' }",
    "per-file-ignores = { 'a.py' = ['tam_101'] }",
    "exclude = 'old'",
    "extend-exclude = [true]",
    "respect-gitignore = 'yes'",
    "force-exclude = 1",
    "pedantic = []",
    "fail-on = 'never'",
    "target-triton = 3.2",
    "target-triton = '~=3.2'",
    "target-triton = '>=3.2,'",
    "target-triton = '>=3'",
    "target-triton = ''",
    "hardware = ''",
    "extend = ''",
    "extend = ['tritonaudit.toml']",
    "hardware = ['gpus.json']",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_the_schema_and_the_loader_accept_the_same(tmp_path, text):
    jsonschema.validate(tomllib.loads(text), SCHEMA)
    load(tmp_path, text)


@pytest.mark.parametrize("text", REJECTED)
def test_the_schema_and_the_loader_reject_the_same(tmp_path, text):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(tomllib.loads(text), SCHEMA)
    assert problems(tmp_path, text)


def test_the_schema_is_one_and_describes_every_key_with_its_default():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    config = Config(Path())
    defaults = {key: entry["default"] for key, entry in SCHEMA["properties"].items()}
    assert all(entry["description"] for entry in SCHEMA["properties"].values())
    assert defaults == {
        "extend": None,
        "select": list(config.select),
        "ignore": [],
        "extend-select": [],
        "per-file-ignores": {},
        "exclude": list(DEFAULT_EXCLUDE),
        "extend-exclude": [],
        "respect-gitignore": config.respect_gitignore,
        "force-exclude": config.force_exclude,
        "pedantic": config.pedantic,
        "fail-on": config.fail_on.value,
        "target-triton": DEFAULT,
        "hardware": config.hardware,
    }
