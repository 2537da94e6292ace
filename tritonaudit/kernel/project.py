"""The files of a project as one index: the helpers that a kernel calls and its launches, wherever they stand.

What is looked up depends on the file system alone, never on which files a command named.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import libcst as cst

from tritonaudit.host.host import Host
from tritonaudit.kernel.launch import Launch, launches_in, launches_of
from tritonaudit.source.basis import Basis, Folders, digest, digest_of_texts
from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.glances import Glances, Users
from tritonaudit.source.outline import JitFunction, Module, Unparsable, outline
from tritonaudit.source.tree import FunctionTree, TooDeep

_MAX_HOPS = 4
_MOST_USERS = 50  # more files than these use a name by chance, and would all have to be parsed


@dataclass(frozen=True, eq=False)
class Function:
    """A jit function and the file that it stands in."""

    module: Module
    jit: JitFunction


def _split(origin: str) -> tuple[str, str]:
    """The module and the name of a dotted origin; the dots of a relative import belong to the module."""
    rest = origin.lstrip(".")
    dots = origin[: len(origin) - len(rest)]
    source, _, name = rest.rpartition(".")
    return dots + source, name


def _starred(module: Module) -> list[str]:
    """The modules of which the file imports all names."""
    imports = (node for node in module.tree.body if isinstance(node, ast.ImportFrom))
    return ["." * node.level + (node.module or "") for node in imports if node.names[0].name == "*"]


class Project:
    """Reads the files that imports lead to, each once."""

    def __init__(self, root: Path, users: Users | None = None) -> None:
        self.root = root
        self._users = users or Users(Glances())
        self._modules: dict[Path, Module | None] = {}
        self._trees: dict[tuple[str, JitFunction], FunctionTree | None] = {}
        self._folders = Folders()
        self._digests: dict[str, str] = {}
        self._led_to: dict[str, dict[str, None]] = {}
        self._asked: dict[str, dict[tuple[str, str], str]] = {}
        self._named: dict[str, dict[str, str]] = {}
        self._refusals: dict[tuple[str, JitFunction], str] = {}
        self._functions: dict[tuple[str, str, int | None], Function | None] = {}
        self._origins: dict[tuple[str, str], str] = {}

    @cached_property
    def host(self) -> Host:
        """What is known of the code around kernels."""
        return Host(self)

    def tree(self, function: Function) -> FunctionTree | None:
        """The function's LibCST tree; None where it cannot be had."""
        key = (function.module.path, function.jit)
        if key not in self._trees:
            self._trees[key] = self._parsed(function, key)
        return self._trees[key]

    def _parsed(self, function: Function, key: tuple[str, JitFunction]) -> FunctionTree | None:
        try:
            return FunctionTree(function.module, function.jit)
        except (TooDeep, RecursionError):
            self._refusals[key] = "nested too deeply to be analysed"
        except cst.ParserSyntaxError:
            self._refusals[key] = "written in a way that LibCST cannot parse"
        return None

    def refusal(self, function: Function) -> str:
        """Why the function has no tree."""
        return self._refusals[function.module.path, function.jit]

    def forget(self, module: Module) -> None:
        """Let go of the trees of a file that is done with; a run over thousands of files would keep them all."""
        self.forget_kernels(module)
        self.host.forget(module)

    def forget_host(self) -> None:
        """Let go of all that is known of host code."""
        vars(self).pop("host", None)

    def forget_kernels(self, module: Module, but: Container[JitFunction] = ()) -> None:
        """Let go of what is known of the file's kernels, except the trees of those that are asked for again."""
        self._trees = {key: tree for key, tree in self._trees.items() if key[0] != module.path or key[1] in but}
        self._functions = {key: found for key, found in self._functions.items() if key[0] != module.path}

    def neighbours(self, module: Module, beside: Module, word: str) -> list[str]:
        """The texts of the other Python files in the folder of `beside` that hold the word, asked for `module`."""
        found = self._folders.holding(word, beside.path)
        self._asked.setdefault(module.path, {})[beside.path, word] = digest_of_texts(found)
        return found

    def files_naming(self, module: Module, name: str) -> list[Module]:
        """The other files of the project that may use what the module has by that name."""
        paths = [other for other in self._users.naming(name, str(self.root)) if other != module.path]
        self._named.setdefault(module.path, {})[name] = digest_of_texts(paths)
        self._led_to.setdefault(module.path, {}).update(dict.fromkeys(paths))
        if len(paths) > _MOST_USERS:
            return []
        return [found for other in paths if (found := self._kept(Path(other))) is not None]

    def users(self, function: Function) -> list[Module]:
        """The other files of the project that may launch or call a jit function by its name."""
        return self.files_naming(function.module, function.jit.name)

    def is_in(self, module: Module, dotted: str, function: Function) -> bool:
        """Whether a name of the file is this jit function."""
        found = self.function(module, dotted)
        return (
            found is not None
            and found.module.path == function.module.path
            and found.jit.first_line == function.jit.first_line
        )

    def launches(self, function: Function) -> tuple[Launch, ...]:
        """The launches of a kernel in its own file, or else in the others of the project."""
        return launches_of(function.module).get(function.jit) or self.launches_elsewhere(function)

    def launches_elsewhere(self, function: Function) -> tuple[Launch, ...]:
        """The launches of a jit function in other files of the project."""
        if function.jit.scope is not None:
            return ()
        return tuple(
            launch
            for module in self.users(function)
            for launches in launches_in(module, self._only(module, function)).values()
            for launch in launches
        )

    def _only(self, module: Module, function: Function) -> Callable[[str, int], JitFunction | None]:
        return lambda dotted, line: function.jit if self.is_in(module, dotted, function) else None

    def basis(self, module: Module, text: str) -> Basis:
        """What is known of the module rests on this, as far as it was asked for; `text` is the digest of its own."""
        files: dict[str, str] = {}
        reached = [module.path]
        for path in reached:  # which grows while it is read
            for file in self._led_to.get(path, ()):
                if file not in files and file != module.path:
                    files[file] = self._digests.get(file, "")
                    reached.append(file)
        beside = ((path, word, digest) for (path, word), digest in self._asked.get(module.path, {}).items())
        return Basis(text, tuple(files.items()), tuple(beside), tuple(self._named.get(module.path, {}).items()))

    def resolve(self, caller: Function, dotted: str) -> Function | None:
        """The jit function that `dotted` names inside the caller."""
        return self.function(caller.module, dotted, caller.jit.first_line)

    def function(self, module: Module, dotted: str, line: int | None = None) -> Function | None:
        """The jit function that `dotted` names at a line of the file, or else in files that import it."""
        key = (module.path, dotted, line if module.has_inner_kernels else None)
        if key not in self._functions:
            self._functions[key] = self._resolve(module, dotted, line, 0)
        return self._functions[key]

    def _resolve(self, module: Module, dotted: str, line: int | None, hops: int) -> Function | None:
        if "." not in dotted and (local := module.function(dotted, line)) is not None:
            return Function(module, local)
        origin = module.origin(dotted)
        imported = dotted.partition(".")[0] in module.names
        if hops >= _MAX_HOPS or origin.startswith("triton") or (not imported and "." in dotted):
            return None
        sources = [_split(origin)] if imported else [(source, dotted) for source in _starred(module)]
        for source, name in sources:
            target = self._module(module, source)
            if target is not None and target is not module:
                found = self._resolve(target, name, None, hops + 1)
                if found is not None:
                    return found
        return None

    def origin_of(self, module: Module, origin: str) -> str:
        """What a dotted name of another file of the project is in the end: `.ops.exp` may be `triton.language.exp`."""
        key = (module.path, origin)
        if key not in self._origins:
            self._origins[key] = self._origin(module, origin, 0)
        return self._origins[key]

    def _origin(self, module: Module, origin: str, hops: int) -> str:
        source, name = _split(origin)
        if hops >= _MAX_HOPS or not source or origin.startswith("triton"):
            return origin
        target = self._module(module, source)
        if target is None or target is module or name not in target.names:
            return origin
        return self._origin(target, target.names[name], hops + 1)

    def imported(self, importer: Module, source: str) -> Module | None:
        """The file of the checkout that `source`, dotted, names in an import of `importer`."""
        return self._module(importer, source)

    def _module(self, importer: Module, source: str) -> Module | None:
        """The module that `source` names in an import of `importer`: relative, or below one of its folders."""
        here = Path(importer.path).parent
        level = len(source) - len(source.lstrip("."))
        parts = source.lstrip(".").split(".") if source.strip(".") else []
        if level:
            for _ in range(level - 1):
                here = here.parent
            return self._at(here.joinpath(*parts), importer)
        for folder in (here, *here.parents):
            if parts and (found := self._at(folder.joinpath(*parts), importer)) is not None:
                return found
            if folder == self.root:
                break
        return None

    def _at(self, path: Path, importer: Module) -> Module | None:
        led_to = self._led_to.setdefault(importer.path, {})
        candidates = [path / "__init__.py"]
        if path.name:  # not the root of the file system
            candidates.append(path.with_name(path.name + ".py"))
        for candidate in candidates:
            led_to[str(candidate)] = None
            if (found := self._kept(candidate)) is not None:
                return found
        return None

    def _kept(self, path: Path) -> Module | None:
        if path not in self._modules:
            self._modules[path] = self._read(path)
        return self._modules[path]

    def _read(self, path: Path) -> Module | None:
        if not path.is_file():
            return None
        try:
            data = path.read_bytes()
        except (OSError, ValueError):
            return None
        self._digests[str(path)] = digest(data)
        try:
            return outline(str(path), decode(data))
        except (Undecodable, Unparsable):
            return None
