"""What releases of Triton say of kernels: each compiles them in a process of its own, and what it said is kept.

A folder of releases holds each wheel unpacked, by its number: RELEASES/3.9.0/triton. This file is also what runs in
that process: it reads questions, one a line, and answers each in a child that may crash.
"""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 20
_SAID = 400
COMPILES = ""
"""What a release says of a kernel that it compiles."""


@dataclass(frozen=True)
class Question:
    """One kernel: the text that defines it, and for its parameters the types, or the constants as expressions.

    `whole`: it is compiled down to machine code, not by the front end alone.
    """

    source: str
    kernel: str
    types: Mapping[str, str]
    constants: Mapping[str, str]
    whole: bool = False

    @property
    def key(self) -> str:
        """The same for the same question."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:24]


def verdicts(
    questions: Sequence[Question], folder: Path, releases: Sequence[str], kept: Path
) -> dict[str, dict[str, str]]:
    """By release and question what the compiler says: nothing where it compiles; `kept` holds what was asked before."""
    return {release: _of_release(questions, folder / release, kept / f"{release}.jsonl") for release in releases}


def _of_release(questions: Sequence[Question], release: Path, kept: Path) -> dict[str, str]:
    kept.parent.mkdir(parents=True, exist_ok=True)
    known: dict[str, str] = {}
    if kept.is_file():
        for line in kept.read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            known[one["key"]] = one["said"]
    asked = {one.key: one for one in questions if one.key not in known}
    if asked:
        with kept.open("a", encoding="utf-8") as file:
            for key, said in _asked(asked, release):
                known[key] = said
                print(json.dumps({"key": key, "said": said}), file=file, flush=True)
    return {one.key: known[one.key] for one in questions}


def _asked(questions: Mapping[str, Question], release: Path) -> Iterator[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as scratch:
        lines = [json.dumps({"key": key, **asdict(one)}) for key, one in questions.items()]
        Path(scratch, "questions").write_text("\n".join(lines), encoding="utf-8")
        paths = os.pathsep.join((str(release), str(_ROOT)))
        environment = {**os.environ, "PYTHONPATH": paths, "TRITON_CACHE_DIR": f"{scratch}/cache"}
        command = [sys.executable, __file__, str(release), f"{scratch}/questions"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            for line in process.stdout:
                one = json.loads(line)
                yield one["key"], one["said"]
        if process.returncode:
            raise RuntimeError(f"{release}: its process ended with {process.returncode}")


# -- in the process of a release ---------------------------------------------------------------------------------


def _answer(release: Path, questions: Path) -> None:
    import triton

    import tritonaudit.capture.front_end  # noqa: F401  (once, for all children)

    found = Path(triton.__file__).parent
    if found != release / "triton":
        raise RuntimeError(f"{found} is imported instead of {release}")
    for line in questions.read_text(encoding="utf-8").splitlines():
        question = json.loads(line)
        print(json.dumps({"key": question["key"], "said": _in_child(question)}), flush=True)


def _in_child(question: Mapping[str, Any]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(_SECONDS)
        for stream in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
        with os.fdopen(writing, "w") as answer:
            answer.write(_said(question) or "compiles")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return COMPILES if text == "compiles" else text or "crashed"


def _said(question: Mapping[str, Any]) -> str:
    """What the front end says, and where a `whole` compilation is asked for and it says nothing, what the rest says."""
    from triton.backends.compiler import GPUTarget
    from triton.compiler import compile as compiled

    from tritonaudit.capture.front_end import build
    from tritonaudit.capture.launch import Program

    target = GPUTarget("cuda", 90, 32)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "generated.py"
        path.write_text(question["source"], encoding="utf-8")
        try:
            kernel, names = _kernel(path, question["kernel"])
            outcome = build(_source(kernel, question, names), target, "sm_90", {}).outcome
            if isinstance(outcome, Program) and question["whole"]:
                compiled(_source(kernel, question, names), target=target)
        except BaseException as error:
            return f"{type(error).__name__}: {error}"[:_SAID]
    return "" if isinstance(outcome, Program) else outcome.message[:_SAID] or "refused"


def _kernel(path: Path, name: str) -> tuple[Any, dict[str, Any]]:
    spec = importlib.util.spec_from_file_location("generated", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["generated"] = module
    spec.loader.exec_module(module)
    return getattr(module, name), vars(module)


def _source(kernel: Any, question: Mapping[str, Any], names: dict[str, Any]) -> Any:
    from triton.compiler import ASTSource

    constants = {name: eval(text, names) for name, text in question["constants"].items()}
    types = {name: "constexpr" if name in constants else question["types"][name] for name in kernel.arg_names}
    if "constexprs" in inspect.signature(ASTSource.__init__).parameters:
        return ASTSource(fn=kernel, signature=types, constexprs=constants)
    return ASTSource(fn=kernel, signature=types, constants=constants)


if __name__ == "__main__":
    _answer(Path(sys.argv[1]), Path(sys.argv[2]))
