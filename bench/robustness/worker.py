"""Checks files one after the other and says of each what it came to; run as a process, since a file may kill it."""

from __future__ import annotations

import ast
import json
import sys
import warnings
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import libcst

from tritonaudit.config import Config
from tritonaudit.engine import _Checker
from tritonaudit.source.outline import Module, _jit_functions, _Resolver, may_hold_kernels
from tritonaudit.source.tree import FunctionTree, TooDeep


class Observer(_Checker):
    """Checks files as `tritonaudit check` does, and remembers why functions were not analysed."""

    def __init__(self, config: Config, *, every_function: bool) -> None:
        super().__init__(config)
        self._every_function = every_function
        self.functions = 0
        self.not_parsed: Counter[str] = Counter()

    def _module(self, path: Path, shown: str, module: Module) -> Any:
        if self._every_function:
            names = {node.name for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef)}
            module = replace(module, jit=tuple(_jit_functions(module.tree, _Resolver({}), names)))
        self.functions = len(module.jit)
        result = super()._module(path, shown, module)
        if result.kernels < len(module.jit):
            self._explain(module)
        return result

    def _explain(self, module: Module) -> None:
        for function in module.jit:
            try:
                FunctionTree(module, function)
            except (TooDeep, RecursionError):
                self.not_parsed["nested too deeply"] += 1
            except libcst.ParserSyntaxError as error:
                self.not_parsed[f"LibCST refuses {function.qualname}: {error.message}"] += 1


def main(mode: str, listing: str) -> None:
    """Check the files of a JSON list; `mode` is `every` (all files, all functions) or `kernels`."""
    for name in json.loads(Path(listing).read_text(encoding="utf-8")):
        path = Path(name)
        print(json.dumps({"path": name}), flush=True)
        data = path.read_bytes()
        if mode == "every" or may_hold_kernels(data):
            print(json.dumps(_observed(path, data, mode == "every")), flush=True)


def _observed(path: Path, data: bytes, every_function: bool) -> dict[str, object]:
    observer = Observer(Config(path.parent, pedantic=True), every_function=every_function)
    result = observer.file(path)
    return {
        "path": str(path),
        "functions": observer.functions,
        "analysed": result.kernels,
        "findings": len(result.findings),
        "problems": [problem.message for problem in result.problems],
        "not_parsed": dict(observer.not_parsed),
        "python": _python_says(data),
    }


def _python_says(data: bytes) -> str | None:
    """What Python has against the file, None when it accepts it."""
    try:
        compile(data, "<file>", "exec", flags=ast.PyCF_ONLY_AST, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"{type(error).__name__}: {error}"
    return None


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
