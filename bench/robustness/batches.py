"""Trees of files in which hostile ones stand beside healthy ones, and what an audit of such a tree must be."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.corpus import ROOT
from bench.processes import Ran, run, tritonaudit
from bench.robustness.mutations import Mutant
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Unparsable, outline

FORMATS = ("json", "concise", "full", "github", "sarif")
_JOBS: dict[str, tuple[str, ...]] = {"json": (), "concise": ("--jobs", "1"), "full": ("--jobs", "2")}
_INTERNAL = ("tritonaudit failed", "the process that analysed it died")
_COMMAND = re.compile(r"::(error|warning|notice) file=[^:\n]*::[^\n]*")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
_FINDINGS_SCHEMA = ROOT / "tritonaudit" / "report" / "findings.schema.json"

Findings = dict[str, list[dict[str, Any]]]


@dataclass
class Healthy:
    """A healthy file in a folder of its own, and its findings when nothing else is audited."""

    place: str
    data: bytes
    findings: list[dict[str, Any]] = field(default_factory=list)

    def measure(self, folder: Path, limit: float) -> None:
        """Audit the file alone."""
        write(folder / self.place, self.data)
        ran = audit(folder, "json", limit)
        self.findings = _by_path(ran).get(self.place, [])


@dataclass(frozen=True)
class Defect:
    """Something that the tool may not do; `kind` is what was in the file that made it."""

    kind: str
    what: str
    path: str = ""


def healthy_files(sources: Sequence[tuple[str, bytes]], folder: Path, limit: float) -> list[Healthy]:
    """Each source in a folder of its own, with its findings."""
    found = [Healthy(f"healthy_{number}/{name}", data) for number, (name, data) in enumerate(sources)]
    for healthy in found:
        healthy.measure(folder / hashlib.sha256(healthy.place.encode()).hexdigest()[:12], limit)
    return found


def check_batch(
    folder: Path, mutants: Sequence[Mutant], healthy: Sequence[Healthy], limit: float, formats: Sequence[str] = FORMATS
) -> list[Defect]:
    """Write a tree, audit it in every format, and say what was wrong. Culprits of a death are named one by one."""
    kinds = _write_tree(folder, mutants, healthy)
    defects: list[Defect] = []
    codes: dict[str, int | None] = {}
    for output_format in formats:
        ran = audit(folder, output_format, limit, *_JOBS.get(output_format, ()))
        codes[output_format] = ran.code
        if ran.code not in (0, 1, 2):
            defects += _culprits(folder, kinds, limit) or [Defect("batch", f"{output_format}: {_ending(ran)}")]
            break
        defects += [Defect("batch", f"{output_format}: {what}") for what in _about_streams(ran)]
        defects += _about_format(output_format, ran, kinds, healthy)
    if len(set(codes.values())) > 1 and all(code in (0, 1, 2) for code in codes.values()):
        defects.append(Defect("batch", f"exit codes differ: {codes}"))
    return defects


def audit(folder: Path, output_format: str, limit: float, *options: str) -> Ran:
    """Audit a tree from within it."""
    return run(tritonaudit("check", "--output-format", output_format, *options, "."), cwd=folder, limit=limit)


def write(path: Path, data: bytes) -> None:
    """Write a file, and the folders that it needs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _write_tree(folder: Path, mutants: Sequence[Mutant], healthy: Sequence[Healthy]) -> dict[str, str]:
    kinds: dict[str, str] = {}
    for number, mutant in enumerate(mutants):
        place = f"mutants/m{number}.py"
        kinds[place] = mutant.kind
        write(folder / place, mutant.data)
    for file in healthy:
        write(folder / file.place, file.data)
    kinds["mutants/importer.py"] = "a healthy file that imports from the others"
    write(folder / "mutants" / "importer.py", _importer(mutants))
    return kinds


def _importer(mutants: Sequence[Mutant]) -> bytes:
    """A kernel that calls a helper of every mutant."""
    names = [_a_helper(mutant.data) for mutant in mutants]
    imports = [f"from .m{number} import {name} as helper_{number}" for number, name in enumerate(names)]
    calls = [f"    x = helper_{number}(x, n, BLOCK)" for number in range(len(names))]
    head = ["import triton", "import triton.language as tl", *imports, "", "@triton.jit"]
    body = ["def kernel(x, n, BLOCK: tl.constexpr):", *calls, "    tl.store(x + tl.arange(0, BLOCK), n)", ""]
    return "\n".join([*head, *body]).encode()


def _a_helper(data: bytes) -> str:
    try:
        module = outline("mutant.py", decode(data))
    except (Undecodable, Unparsable, RecursionError, ValueError):
        return "kernel"
    return module.jit[0].name if module.jit else "kernel"


def _culprits(folder: Path, kinds: Mapping[str, str], limit: float) -> list[Defect]:
    """The files that end or stop the process that audits them alone."""
    found = []
    for place, kind in kinds.items():
        command = tritonaudit("check", "--jobs", "1", "--output-format", "json", place)
        ran = run(command, cwd=folder, limit=max(limit / 4, 10))
        if ran.code not in (0, 1, 2):
            found.append(Defect(kind, _ending(ran), place))
    return found


def _ending(ran: Ran) -> str:
    if ran.code is None:
        return f"not done after {ran.wall:.0f} s"
    return f"the process ended with {ran.code}"


def _about_streams(ran: Ran) -> Iterator[str]:
    if ran.err:
        yield f"standard error holds {ran.err[-300:]!r}"
    if ran.code == 2 and not ran.out:
        yield "exit code 2 and no report"


def _about_format(
    output_format: str, ran: Ran, kinds: Mapping[str, str], healthy: Sequence[Healthy]
) -> Iterator[Defect]:
    if output_format == "json":
        yield from _about_json(ran, kinds, healthy)
    else:
        yield from (Defect("batch", f"{output_format}: {what}") for what in _CHECKS[output_format](ran.out))


def _about_json(ran: Ran, kinds: Mapping[str, str], healthy: Sequence[Healthy]) -> Iterator[Defect]:
    report = json.loads(ran.out)
    for what in _against_schema(report):
        yield Defect("batch", f"json: {what}")
    for error in report["errors"]:
        if error["message"].startswith(_INTERNAL):
            yield Defect(kinds.get(error["path"], error["path"]), error["message"], error["path"])
    spoiled = {error["path"] for error in report["errors"]} & {file.place for file in healthy}
    yield from (Defect("batch", "a healthy file has a problem", path) for path in sorted(spoiled))
    findings = _by_path(ran)
    for file in healthy:
        if findings.get(file.place, []) != file.findings:
            yield Defect("batch", "a healthy file's findings are not those that it has alone", file.place)


def _by_path(ran: Ran) -> Findings:
    found: Findings = {}
    for finding in json.loads(ran.out)["findings"]:
        found.setdefault(finding["path"], []).append(finding)
    return found


def _against_schema(report: object) -> Iterator[str]:
    jsonschema = _optional("jsonschema")
    if jsonschema is None:
        return
    validator = jsonschema.Draft202012Validator(json.loads(_FINDINGS_SCHEMA.read_text(encoding="utf-8")))
    yield from (f"{error.json_path}: {error.message[:200]}" for error in validator.iter_errors(report))


def _about_github(out: bytes) -> Iterator[str]:
    for line in _text(out).split("\n")[:-1]:
        if _COMMAND.fullmatch(line) is None or _CONTROL.search(line):
            yield f"{line[:200]!r} is no command"


def _about_sarif(out: bytes) -> Iterator[str]:
    log = json.loads(out)
    if log.get("version") != "2.1.0" or len(log.get("runs", ())) != 1:
        yield "no log of one run"
    validate = _optional("sarif_kit.validate")
    if validate is not None:
        try:
            validate.assert_valid(log)
        except Exception as error:  # whatever it raises, the log is not valid
            yield f"not valid: {str(error)[:300]}"


def _about_text(out: bytes) -> Iterator[str]:
    for line in _text(out).split("\n"):
        if found := _CONTROL.search(line):
            yield f"the control character {found[0]!r} in {line[:100]!r}"


_CHECKS: dict[str, Callable[[bytes], Iterator[str]]] = {
    "concise": _about_text,
    "full": _about_text,
    "github": _about_github,
    "sarif": _about_sarif,
}


def _text(out: bytes) -> str:
    return out.decode("utf-8", "surrogateescape")


def _optional(name: str) -> Any:
    with contextlib.suppress(ImportError):
        return importlib.import_module(name)
    return None


# -- what is no ordinary file ------------------------------------------------------------------------------------


def write_odd_tree(folder: Path, data: bytes, healthy: Sequence[Healthy]) -> None:
    """A tree of names and things that are odd; `data` is a file with findings."""
    for file in healthy:
        write(folder / file.place, file.data)
    odd = folder / "odd"
    for name in _ODD_NAMES:
        with contextlib.suppress(OSError):  # not every file system takes every name
            write(Path(os.fsdecode(os.fsencode(odd) + b"/" + name)), data)
    (odd / "folder.py").mkdir(parents=True, exist_ok=True)
    write(odd / "folder.py" / "inside.py", data)
    (odd / "loop.py").symlink_to("loop.py")
    (odd / "ping.py").symlink_to("pong.py")
    (odd / "pong.py").symlink_to("ping.py")
    (odd / "dangling.py").symlink_to("nowhere.py")
    (odd / "up").symlink_to("..", target_is_directory=True)
    (odd / "device.py").symlink_to(os.devnull)
    os.mkfifo(odd / "pipe.py")
    _unreadable(odd / "unreadable.py", data)
    write(odd / "empty.py", b"")


def write_importing_tree(folder: Path, data: bytes, healthy: Sequence[Healthy]) -> None:
    """The same, and a kernel that imports its helpers from what is no file."""
    write_odd_tree(folder, data, healthy)
    _socket(folder / "odd" / "socket.py")
    (folder / "odd" / "package").mkdir()
    os.mkfifo(folder / "odd" / "package" / "__init__.py")
    names = ("folder", "loop", "dangling", "device", "unreadable", "empty", "socket", "package", "pipe")
    imports = "".join(f"from .{name} import helper as from_{name}\n" for name in names)
    calls = "".join(f"    from_{name}(x)\n" for name in names)
    head = "import triton\nimport triton.language as tl\n"
    write(folder / "odd" / "importer.py", f"{head}{imports}@triton.jit\ndef kernel(x):\n{calls}".encode())


def check_odd_tree(folder: Path, healthy: Sequence[Healthy], limit: float) -> list[Defect]:
    """Audit an odd tree in every format."""
    kinds: dict[str, str] = {}
    defects: list[Defect] = []
    for output_format in FORMATS:
        ran = audit(folder, output_format, limit, *_JOBS.get(output_format, ()))
        if ran.code not in (0, 1, 2):
            return [*defects, Defect(folder.name, f"{output_format}: {_ending(ran)}")]
        defects += [Defect(folder.name, f"{output_format}: {what}") for what in _about_streams(ran)]
        defects += _about_format(output_format, ran, kinds, healthy)
    return defects


_ODD_NAMES = (
    *(b"a b.py", b"new\nline.py", b"::error file=x,line=1::owned\n.py", b"escape\x1b[31m.py", b"bell\x07.py"),
    *(b"cr\r.py", b"tab\t.py", b"%0A%25.py", b"comma,colon:.py", b"-dash.py", b"--jobs=0.py", b"#hash?.py"),
    *("幅\u202e.py".encode(), b"byte\xff.py", b"quote'\".py", b"[x](y).py", b"back\\slash.py", b".hidden.py"),
    *("e\u0301\u2028.py".encode(), "\U0001f600.py".encode(), b"a" * 252 + b".py", b".py", b"~.py", b"{x!r:>9}.py"),
)


def _unreadable(path: Path, data: bytes) -> None:
    """A file that may not be read; the root may read all, so that it is an ordinary one there."""
    write(path, data)
    path.chmod(0)


def _socket(path: Path) -> None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))
