"""Random edits of published files, as fast as they can be sent: the server must outlive them and lose none."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.corpus import KernelFile
from bench.server.client import Client, Gone
from tritonaudit.config import Config, project_config
from tritonaudit.engine import check_text
from tritonaudit.server.auditing import encoded
from tritonaudit.source.decode import decode
from tritonaudit.source.discover import project_root

_BURSTS = (1, 3, 10, 60)
_COMPARED = 10
"""After every so many bursts what the server says is held against a check of the same text by itself."""
_FRAGMENTS = (
    "", " ", "\n", "\n    ", "\r\n", "\r", "\t", "\f", "\u2028", "é", "🎉", "\ud800", "\0", "(", ")", "[", "]", "'",
    '"""', "#", ":", ",", "=", "\\", "tl.", "tl.load(", "mask=", "None", "0", "1 << 40", "@triton.jit\n", "return",
    "def f(x):\n    pass\n", "for i in range(3):\n", "if True:\n", "import triton\n", "\ufeff",
    "# tritonaudit: ignore", "# tritonaudit: ignore[TAM101] why\n", "# -*- coding: latin-1 -*-\n",
)  # fmt: skip
_ASKED = ("hover", "codeAction", "inlayHint")


@dataclass
class Edited:
    """What came of the edits: how many, how many texts were compared, and what went wrong."""

    edits: int = 0
    bursts: int = 0
    requests: int = 0
    compared: int = 0
    wrong: list[str] = field(default_factory=list)


def edited(files: Sequence[KernelFile], root: Path, count: int, seed: int, tell: Callable[[str], None]) -> Edited:
    """Make so many edits in bursts, each of one of the files; a server that died is started again."""
    rng, result = random.Random(seed), Edited()
    while result.edits < count:
        try:
            with Client(root, {"textDocument": {"hover": {"contentFormat": ["markdown"]}}}) as client:
                for _ in range(50):
                    _burst(client, rng.choice(files), rng, result, count)
                    if result.edits >= count:
                        break
                result.wrong.extend(_complaints(client))
        except Gone as error:
            result.wrong.append(f"after {result.edits} edits the server was gone: {error}")
        tell(f"{result.edits:,} edits, {len(result.wrong)} wrong")
    return result


def _burst(client: Client, file: KernelFile, rng: random.Random, result: Edited, count: int) -> None:
    """Open the file, edit it some times without waiting, and wait for what is said in the end."""
    text = decode(file.path.read_bytes())
    uri = client.open(file.path, text)
    version = 1
    for _ in range(min(rng.choice(_BURSTS), count - result.edits)):
        first, last = _stretch(text, rng)
        fragment = _fragment(text, rng)
        version += 1
        client.change(uri, version, {"range": {"start": _at(text, first), "end": _at(text, last)}, "text": fragment})
        text = text[:first] + fragment + text[last:]
        result.edits += 1
        if rng.random() < 0.2:
            _ask(client, uri, _at(text, rng.randint(0, len(text))), rng.choice(_ASKED))
            result.requests += 1
    said = client.diagnostics(uri, version)
    result.bursts += 1
    if result.bursts % _COMPARED == 0:
        result.compared += 1
        result.wrong.extend(_differences(file.path, text, said))
    client.close(uri)


def _stretch(text: str, rng: random.Random) -> tuple[int, int]:
    first = rng.randint(0, len(text))
    return first, min(len(text), first + rng.choice((0, 0, 0, 1, 2, 5, 20, 200)))


def _fragment(text: str, rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(_FRAGMENTS)
    first = rng.randint(0, len(text))
    return text[first : first + rng.choice((1, 3, 10, 40, 400))]


def _at(text: str, offset: int) -> dict[str, int]:
    """The place as the protocol has it, in units of UTF-16; `\\r\\n` is one end of a line, and `\\r` is one, too."""
    before = text[:offset]
    lines = before.replace("\r\n", "\n").replace("\r", "\n")
    line = lines.count("\n")
    last = lines.rpartition("\n")[2]
    return {"line": line, "character": len(last.encode("utf-16-le", "surrogatepass")) // 2}


def _ask(client: Client, uri: str, place: dict[str, int], what: str) -> None:
    params: dict[str, Any] = {"textDocument": {"uri": uri}}
    span = {"start": place, "end": place}
    if what == "hover":
        params["position"] = place
    elif what == "codeAction":
        params |= {"range": span, "context": {"diagnostics": []}}
    else:
        params["range"] = {"start": {"line": 0, "character": 0}, "end": place}
    client.ask(f"textDocument/{what}", params)


def _differences(path: Path, text: str, said: list[dict[str, Any]]) -> Iterator[str]:
    """What a check of the text finds and the server does not say, and the other way round."""
    config: Config = project_config(project_root(path.parent))
    audit = check_text(encoded(text), path, config)
    if audit.unread:
        return
    found = sorted((one.code, one.span.line - 1, one.message) for one in audit.findings)
    reported = sorted(
        (one["code"], one["range"]["start"]["line"], one["message"].partition("\nhelp: ")[0]) for one in said
    )
    for one in found:
        if one not in reported:
            yield f"{path}: a check finds {one}, the server does not"
    for one in reported:
        if one not in found:
            yield f"{path}: the server says {one}, a check does not"


def _complaints(client: Client) -> Iterator[str]:
    """What the server said of itself that it should not have to."""
    for notice in client.notices:
        message = str(notice.get("params", {}).get("message", ""))
        if notice["method"] == "window/showMessage" or "tritonaudit failed" in message:
            yield message
    text = b"".join(client.stderr).decode("utf-8", "replace")
    if "Traceback" in text:
        yield text[-2000:]
