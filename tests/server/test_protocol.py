"""The language server as an editor meets it: a process that speaks the protocol over its standard input and output."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.checkout import ROOT, run
from tests.server.kernels import MIXED, RIGHT, WRONG
from tritonaudit.compile.facts import AccessKind, CompiledKernel, LineAccess, Resources, Variant
from tritonaudit.compile.last import keep_last
from tritonaudit.config import project_config
from tritonaudit.engine import check_text
from tritonaudit.finding import Span

pytest.importorskip("pygls")

from bench.server.client import Client

WHOLE = {"start": {"line": 0, "character": 0}, "end": {"line": 999, "character": 0}}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project").resolve()
    (root / "pyproject.toml").write_text('[tool.tritonaudit]\nextend-exclude = ["generated/"]\n')
    return root


@pytest.fixture(scope="module")
def client(project: Path) -> Iterator[Client]:
    with Client(project) as client:
        yield client


def codes(found: list[dict[str, Any]]) -> list[str]:
    return [one["code"] for one in found]


def insert(text: str, before: str, new: str) -> dict[str, Any]:
    """The change that puts something before a part of the text."""
    offset = text.index(before)
    line = text.count("\n", 0, offset)
    place = {"line": line, "character": offset - text.rfind("\n", 0, offset) - 1}
    return {"range": {"start": place, "end": place}, "text": new}


def at(text: str, part: str) -> dict[str, int]:
    start: dict[str, int] = insert(text, part, "")["range"]["start"]
    return start


def hover(client: Client, uri: str, place: dict[str, int]) -> str:
    found = client.ask("textDocument/hover", {"textDocument": {"uri": uri}, "position": place})
    return "" if found is None else str(found["contents"]["value"])


def actions(client: Client, uri: str, only: list[str] | None = None) -> list[dict[str, Any]]:
    context: dict[str, Any] = {"diagnostics": []} | ({} if only is None else {"only": only})
    found = client.ask("textDocument/codeAction", {"textDocument": {"uri": uri}, "range": WHOLE, "context": context})
    assert isinstance(found, list)
    return found


def after(text: str, action: dict[str, Any]) -> str:
    """The text with the only edits of an action done, the last one first."""
    ((changes),) = action["edit"]["changes"].values()
    lines = text.splitlines(keepends=True)

    def offset(place: dict[str, int]) -> int:
        return sum(map(len, lines[: place["line"]])) + place["character"]

    for change in sorted(changes, key=lambda one: offset(one["range"]["start"]), reverse=True):
        start, end = offset(change["range"]["start"]), offset(change["range"]["end"])
        text = text[:start] + change["newText"] + text[end:]
    return text


# -- diagnostics -----------------------------------------------------------------------------------------------------


def test_what_is_said_is_of_the_open_text_and_follows_each_change(client: Client, project: Path) -> None:
    path = project / "open.py"
    path.write_text(RIGHT)
    uri = client.open(path, WRONG)
    (found,) = client.diagnostics(uri, 1)
    assert (found["code"], found["severity"], found["source"]) == ("TAM101", 1, "tritonaudit")
    assert found["range"]["start"] == at(WRONG, "tl.store")
    client.change(uri, 2, insert(WRONG, ")\n\n\ndef", ", mask=at < n"))
    assert client.diagnostics(uri, 2) == []


@pytest.mark.parametrize("name", ["matmul.py", "sequence.py", "softmax.py"])
def test_it_finds_what_check_finds(client: Client, name: str) -> None:
    path = ROOT / "examples" / "faulty" / name
    expected = check_text(path.read_bytes(), path, project_config(ROOT)).findings
    found = client.diagnostics(client.open(path, path.read_text()), 1)
    assert expected
    assert [(one["code"], one["range"]["start"]["line"] + 1) for one in found] == [
        (one.code, one.span.line) for one in expected
    ]


def test_the_nearest_configuration_governs_and_is_read_again_when_it_changes(client: Client, project: Path) -> None:
    folder = project / "inner"
    folder.mkdir()
    (folder / "tritonaudit.toml").write_text('ignore = ["TAM101"]\n')
    uri = client.open(folder / "kernel.py", WRONG)
    assert client.diagnostics(uri, 1) == []
    (folder / "tritonaudit.toml").write_text("ignore = []\n")
    client.tell("workspace/didChangeWatchedFiles", {"changes": []})
    client.change(uri, 2, {"text": WRONG})
    assert codes(client.diagnostics(uri, 2)) == ["TAM101"]


def test_a_wrong_configuration_is_reported_and_ends_nothing(project: Path, tmp_path: Path) -> None:
    (tmp_path / "tritonaudit.toml").write_text('selct = ["TAM101"]\n')
    with Client(tmp_path) as client:
        uri = client.open(tmp_path / "kernel.py", WRONG)
        assert actions(client, uri) == []
        (shown,) = [one["params"]["message"] for one in client.notices if one["method"] == "window/showMessage"]
        assert "tritonaudit.toml:1" in shown
        assert "selct" in shown
        (tmp_path / "tritonaudit.toml").write_text('select = ["TAM101"]\n')
        client.save(uri)
        client.change(uri, 2, {"text": WRONG})
        assert codes(client.diagnostics(uri, 2)) == ["TAM101"]


def test_what_is_excluded_or_suppressed_is_not_said(client: Client, project: Path) -> None:
    (project / "generated").mkdir()
    excluded = project / "generated" / "kernel.py"
    excluded.write_text(WRONG)
    assert client.diagnostics(client.open(excluded, WRONG), 1) == []
    reason = "  # tritonaudit: ignore[TAM101] the buffer is padded"
    suppressed = WRONG.replace("2 * x)", f"2 * x){reason}")
    assert client.diagnostics(client.open(project / "suppressed.py", suppressed), 1) == []


def test_a_text_that_does_not_parse_keeps_what_was_known_of_other_lines(client: Client, project: Path) -> None:
    uri = client.open(project / "typing.py", WRONG)
    assert codes(client.diagnostics(uri, 1)) == ["TAM101"]
    client.change(uri, 2, insert(WRONG, "@triton.jit", "def (:\n"))
    found = {one["code"]: one["range"]["start"]["line"] for one in client.diagnostics(uri, 2)}
    assert found == {"TAX001": at(WRONG, "@triton.jit")["line"], "TAM101": at(WRONG, "tl.store")["line"] + 1}
    client.change(uri, 3, {"text": WRONG})
    assert codes(client.diagnostics(uri, 3)) == ["TAM101"]


def test_columns_are_those_of_the_protocol(client: Client, project: Path) -> None:
    text = WRONG.replace("    tl.store", '    tl.static_print("é🎉"); tl.store')
    found = next(
        one for one in client.diagnostics(client.open(project / "columns.py", text), 1) if one["severity"] == 1
    )
    line = text.splitlines()[found["range"]["start"]["line"]]
    units = line.encode("utf-16-le")
    start, end = (2 * found["range"][one]["character"] for one in ("start", "end"))
    assert units[start:end].decode("utf-16-le") == "tl.store(out_ptr + at, 2 * x)"


def test_only_the_newest_of_many_changes_is_audited(client: Client, project: Path) -> None:
    uri = client.open(project / "quick.py", RIGHT)
    client.diagnostics(uri, 1)
    for version in range(2, 60):
        client.change(uri, version, insert(RIGHT, "import torch", "#"))
    client.change(uri, 60, {"text": WRONG})
    assert codes(client.diagnostics(uri, 60)) == ["TAM101"]


def test_lines_end_as_python_has_it(client: Client, project: Path) -> None:
    text = WRONG.replace("import torch", "import torch  # \f \u2028").replace("\n", "\r\n")
    uri = client.open(project / "newlines.py", text)
    assert codes(client.diagnostics(uri, 1)) == ["TAM101"]
    client.change(uri, 2, insert(text, ")\r\n\r\n\r\ndef", ", mask=at < n"))
    assert client.diagnostics(uri, 2) == []


def test_a_launch_in_another_file_counts_once_it_is_saved(client: Client, project: Path) -> None:
    kernel, wrapper = RIGHT.split("\n\n\ndef ")
    path = project / "launched.py"
    path.write_text(kernel)
    uri = client.open(path, kernel)
    assert client.diagnostics(uri, 1) == []
    user = project / "uses_launched.py"
    imports = "import torch\nimport triton\nfrom launched import double_kernel\n"
    user.write_text(f"{imports}\n\ndef {wrapper.replace('BLOCK=1024', 'BLOCK=1000')}")
    client.save(user.as_uri())
    client.change(uri, 2, {"text": kernel})
    assert "TAC102" in codes(client.diagnostics(uri, 2))


def test_nothing_is_said_of_a_closed_file(client: Client, project: Path) -> None:
    uri = client.open(project / "closed.py", WRONG)
    assert client.diagnostics(uri, 1)
    client.tell("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert actions(client, uri) == []
    assert client.published[uri]["diagnostics"] == []


# -- what can be done, and what is known -------------------------------------------------------------------------------


def test_a_safe_fix_is_offered_and_fixes(client: Client, project: Path) -> None:
    uri = client.open(project / "mixed.py", MIXED)
    fix = next(one for one in actions(client, uri) if one.get("isPreferred"))
    assert fix["kind"] == "quickfix"
    assert fix["diagnostics"][0]["code"] == "TAC107"
    client.change(uri, 2, {"text": after(MIXED, fix)})
    assert client.diagnostics(uri, 2) == []


def test_all_safe_fixes_are_one_action_for_saving(client: Client, project: Path) -> None:
    uri = client.open(project / "saving.py", MIXED)
    (action,) = actions(client, uri, ["source.fixAll"])
    assert action["kind"] == "source.fixAll.tritonaudit"
    assert "(at >= 0) & (at < n)" in after(MIXED, action)
    client.change(uri, 2, {"text": RIGHT})
    assert actions(client, uri, ["source.fixAll"]) == []


def test_an_unsafe_fix_says_so(client: Client, project: Path) -> None:
    found = [
        one for path in sorted((ROOT / "fixtures" / "rules").glob("TAN10*/bad.py"))[:4]
        for one in actions(client, client.open(path, path.read_text()))
        if "(unsafe" in one["title"]
    ]  # fmt: skip
    assert found
    assert not any(one.get("isPreferred") for one in found)


def test_a_finding_is_suppressed_as_add_ignore_does_it(client: Client, project: Path) -> None:
    uri = client.open(project / "judged.py", WRONG)
    (suppress,) = [one for one in actions(client, uri) if one["title"].startswith("Suppress TAM101")]
    text = after(WRONG, suppress)
    assert "2 * x)  # tritonaudit: ignore[TAM101] TODO: say why\n" in text
    client.change(uri, 2, {"text": text})
    assert client.diagnostics(uri, 2) == []


def test_a_finding_has_the_page_of_its_rule(client: Client, project: Path) -> None:
    uri = client.open(project / "page.py", WRONG)
    said = hover(client, uri, at(WRONG, "store"))
    assert said.startswith("# TAM101 unmasked-access")


def test_a_name_of_triton_has_its_signature_by_release(client: Client, project: Path) -> None:
    uri = client.open(project / "names.py", RIGHT)
    said = hover(client, uri, at(RIGHT, "arange"))
    assert "triton.language.arange\n" in said
    assert "arange(start, end)" in said
    assert hover(client, uri, at(RIGHT, "numel")) == ""
    assert hover(client, uri, at(RIGHT, "@triton")) == ""


def test_an_access_has_what_is_known_of_its_address(client: Client, project: Path) -> None:
    uri = client.open(project / "address.py", RIGHT)
    said = hover(client, uri, at(RIGHT, "load"))
    assert "- index into `x_ptr`: `BLOCK * tl.program_id(0) + tl.arange(0, BLOCK)`" in said
    assert "- mask: `BLOCK * tl.program_id(0) + tl.arange(0, BLOCK) < n`" in said
    assert "- in the launch in line 16 it stays inside the tensor" in said
    uri = client.open(project / "beyond.py", WRONG)
    said = hover(client, uri, at(WRONG, "store"))
    assert "- mask: none" in said
    assert "- bound: nothing bounds `at`" in said


def test_blocks_have_their_shapes_and_dtypes(client: Client, project: Path) -> None:
    text = RIGHT.replace(
        "    tl.store", "    wide = tl.zeros((BLOCK, 4), dtype=tl.float32)\n    n2 = n * 2\n    tl.store"
    )
    uri = client.open(project / "shapes.py", text)
    found = client.ask("textDocument/inlayHint", {"textDocument": {"uri": uri}, "range": WHOLE})
    lines = text.splitlines()
    shown = {lines[one["position"]["line"]][: one["position"]["character"]].strip(): one["label"] for one in found}
    assert shown == {"at": ": i32[1024]", "x": ": [1024]", "wide": ": fp32[1024, 4]"}


def compiled(path: Path) -> CompiledKernel:
    """What `compile` might make of the kernel of a file on two targets."""

    def variant(target: str, registers: int, spilled: int) -> Variant:
        load = LineAccess(str(path), Span(9, 9, 9, 40), AccessKind.LOAD, ((16, 1),))
        needs = Resources(registers, spilled, spilled, 0, 0, 0, 4, 3)
        return Variant(target, "BLOCK=1024", ("n=1024",), (), needs, accesses=(load,))

    variants = (variant("sm_80", 14, 0), variant("sm_80", 18, 0), variant("sm_90", 255, 8))
    return CompiledKernel(str(path), "double_kernel", Span(7, 5, 7, 18), variants)


def test_launches_and_accesses_have_what_the_last_compilation_came_to(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITONAUDIT_CACHE", str(tmp_path))
    path = project / "compiled.py"
    path.write_text(RIGHT)
    keep_last([compiled(path)])
    with Client(project) as client:
        uri = client.open(path, RIGHT)

        def lenses() -> list[tuple[int, str]]:
            found = client.ask("textDocument/codeLens", {"textDocument": {"uri": uri}})
            return [(one["range"]["start"]["line"], one["command"]["title"]) for one in found]

        title = "BLOCK=1024 · sm_80: 14 to 18 registers, no spills · sm_90: 255 registers, 16 bytes spilled"
        line = at(RIGHT, "double_kernel[")["line"]
        assert lenses() == [(line, title)]
        width = "- bytes that a lane moves at once, as last compiled: sm_80 16; sm_90 16"
        assert width in hover(client, uri, at(RIGHT, "load"))
        moved = f"\n\n{RIGHT}"
        client.change(uri, 2, {"text": moved})
        assert lenses() == [(line + 2, title)]
        assert width in hover(client, uri, at(moved, "load"))
        changed = RIGHT.replace("2 * x", "3 * x")
        client.change(uri, 3, {"text": changed})
        assert lenses() == [(line, f"{title} (before the last change of the kernel)")]
        assert "as last compiled" not in hover(client, uri, at(changed, "load"))
        client.change(uri, 4, {"text": "def (:\n"})
        assert lenses() == []


# -- the process -------------------------------------------------------------------------------------------------------


def test_it_ends_when_its_client_does(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        pass
    assert client.code == 0
    assert client.stderr == []


def server(folder: Path, *arguments: str, before: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
    """`tritonaudit server` in a process of its own, in which something was done before."""
    start = f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{before}\nfrom tritonaudit.cli import run\n"
    program = f"{start}sys.exit(run({['server', *arguments]!r}))"
    return run(sys.executable, "-c", program, cwd=folder, code=code)


@pytest.mark.parametrize("arguments", [(), ("--check",)])
@pytest.mark.parametrize("missing", ["pygls", "lsprotocol", "pygls.lsp.server"])
def test_without_the_extra_it_says_what_to_install(tmp_path: Path, missing: str, arguments: tuple[str, ...]) -> None:
    done = server(tmp_path, *arguments, before=f"sys.modules[{missing!r}] = None", code=2)
    assert "pip install 'tritonaudit[server]'" in done.stderr
    assert missing in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_checks_itself_without_an_editor(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.tritonaudit]\nexclude = ["*"]\n')
    done = server(tmp_path, "--check")
    version = re.escape(importlib.metadata.version("pygls"))
    assert re.fullmatch(rf"the language server works: tritonaudit \S+, pygls {version}\n", done.stdout)
    assert done.stderr == ""


def test_a_server_that_finds_nothing_does_not_work(tmp_path: Path) -> None:
    nothing = "import tritonaudit.server.session as session\nsession.Session._audited = lambda *_: None\n"
    quick = "import tritonaudit.server.self_check as one\none._PATIENCE = 0.5\n"
    done = server(tmp_path, "--check", before=f"{nothing}{quick}", code=2)
    assert "the language server does not work: no diagnostics within" in done.stderr
    assert done.stdout == ""
