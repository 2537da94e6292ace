"""What the processes of the speed bench do: list the kernels of a corpus, and parse them with LibCST alone."""

from __future__ import annotations

import json
import sys
from pathlib import Path

FILES = "files.json"
SLICES = "slices.json"


def main(action: str, *arguments: str) -> None:
    """`list CORPUS FOLDER` writes the lists that `files FOLDER` and `slices FOLDER` parse."""
    if action == "list":
        _list(Path(arguments[0]), Path(arguments[1]))
    else:
        _parse(action, Path(arguments[0]))


def _list(corpus: Path, folder: Path) -> None:
    from bench.corpus import kernel_files

    files = kernel_files(corpus)
    (folder / FILES).write_text(json.dumps([(str(file.path), file.lines, len(file.slices)) for file in files]))
    (folder / SLICES).write_text(json.dumps([text for file in files for text in file.slices]))


def _parse(action: str, folder: Path) -> None:
    import libcst

    from tritonaudit.source.decode import decode

    rejected = 0
    if action == "files":
        texts = [decode(Path(path).read_bytes()) for path, _, _ in json.loads((folder / FILES).read_text())]
    else:
        texts = json.loads((folder / SLICES).read_text())
    for text in texts:
        try:
            libcst.parse_module(text)
        except libcst.ParserSyntaxError:
            rejected += 1
    print(json.dumps({"parsed": len(texts) - rejected, "rejected": rejected}))


if __name__ == "__main__":
    main(*sys.argv[1:])
