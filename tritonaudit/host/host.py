"""The launches of a project: each on every path that leads to it, from the functions that nobody calls."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from heapq import heappop, heappush

from tritonaudit.domains.affine import Affine, Atom
from tritonaudit.host.arithmetic import Arithmetic, TooLarge
from tritonaudit.host.callers import Callers, Entry, Project
from tritonaudit.host.calls import apply
from tritonaudit.host.facts import KIND, Contradiction, Facts
from tritonaudit.host.run import OutOfBudget, Raises, Recorded, Restart, Run
from tritonaudit.host.scopes import Scope, Scopes
from tritonaudit.host.values import (
    Class,
    Condition,
    Config,
    Function,
    Key,
    Object,
    Symbol,
    Tensor,
    Test,
    Value,
)
from tritonaudit.source.outline import JitFunction, Module, dotted_name

_MOST_STEPS = 10_000
_MOST_PATHS = 32
_MOST_RESTARTS = 8
_MOST_KEPT = 512
_Read = set[ast.AST]  # the functions whose text something rests on
_RANKS = {KIND: 2}  # what type an input has is asked by the way


@dataclass(frozen=True, eq=False)
class LaunchSite:
    """One launch, `made` as it is reached from `entry` under `conditions`.

    What an autotuner chooses is a symbol among the arguments, and the configs say which numbers it stands for. `doubt`
    says why a caller that could not be followed may know more.
    """

    made: Recorded
    entry: Entry
    conditions: tuple[Condition, ...]
    ranks: Mapping[Key, int]
    arithmetic: Arithmetic
    doubt: str = ""

    @property
    def kernel(self) -> JitFunction:
        return self.made.kernel.function

    @property
    def module(self) -> Module:
        """The file that the call stands in."""
        return self.made.calls[-1].frame.scope.module

    @property
    def call(self) -> ast.Call:
        return self.made.call

    @property
    def arguments(self) -> Mapping[str, Value]:
        """What is passed, by the kernel's parameters."""
        return self.made.arguments

    @property
    def grid(self) -> tuple[Value, ...] | Symbol:
        return self.made.grid

    @property
    def written(self) -> tuple[ast.expr, ...]:
        """The axes of the grid as they stand in the text, where they do."""
        return self.made.written

    @property
    def options(self) -> Mapping[str, Value]:
        return self.made.options

    @property
    def configs(self) -> tuple[Config, ...]:
        return self.made.configs

    @property
    def is_whole(self) -> bool:
        """Whether the text shows all that is passed."""
        return self.made.is_whole

    def facts(self) -> Facts:
        """What holds where the launch is made."""
        return self._facts

    @cached_property
    def _facts(self) -> Facts:
        facts = Facts(self.arithmetic)
        for condition in self.conditions:
            facts.assume(condition)
        return facts

    def key(self, atom: Atom) -> Key:
        """What an atom of the launch's numbers stands for; empty where that is no input."""
        key = self.arithmetic.keys.get(atom)
        return key if isinstance(key, tuple) else ()

    def integer(self, value: Value) -> Affine | None:
        """A value as an integer; None where it is none."""
        if isinstance(value, bool):
            return Affine.constant(int(value))
        if isinstance(value, Symbol):
            return self.arithmetic.symbol(value.key, value.name, not value.reason)
        return value if isinstance(value, Affine) else None

    def argument(self, parameter: str) -> Affine | None:
        return self.integer(self.arguments.get(parameter))

    def axis(self, axis: int) -> Affine | None:
        """How many programs there are along the axis; one where the grid has no such axis."""
        if isinstance(self.grid, Symbol):
            return None
        return self.integer(self.grid[axis]) if axis < len(self.grid) else Affine.constant(1)

    def chosen(self, config: Config) -> dict[Atom, Affine]:
        """What the symbols of the autotuner are under one config."""
        found: dict[Atom, Affine] = {}
        for name, value in config.constants:
            atom, given = self.argument(str(name)), self.integer(value)
            if atom is not None and atom.atom is not None and given is not None and not atom.atom.inner:
                found[atom.atom] = given
        return found


@dataclass(frozen=True)
class Raised:
    """There is no launch at these sizes, since the host code raises or returns before it."""

    reason: str


@dataclass(frozen=True)
class NotKnown:
    """Whether and how there is a launch at these sizes is not known."""

    reason: str


@dataclass(frozen=True, eq=False)
class _Path:
    """One way through an entry: the launches on it, why it ended, where that was not at its end, and what it `kept`.

    That is by the keys of attributes of inputs.
    """

    launches: tuple[Recorded, ...]
    conditions: tuple[Condition, ...]
    ended: str
    is_cut: bool
    kept: Mapping[Key, Value]


@dataclass
class Host:
    """All that is known of the host code of a project."""

    project: Project
    arithmetic: Arithmetic = field(default_factory=Arithmetic)

    def __post_init__(self) -> None:
        self._scopes = Scopes(self.project)
        self._callers = Callers(self._scopes, self.project)
        self._paths: dict[Entry, tuple[tuple[_Path, ...], _Read]] = {}
        self._replayed: dict[tuple[Hashable, ...], tuple[LaunchSite | Raised | NotKnown, _Read]] = {}
        self._bare: set[Entry] = set()
        self._tensors: dict[Entry, frozenset[str]] = {}

    def launches(self, module: Module, kernel: JitFunction, users: list[Module]) -> tuple[LaunchSite, ...]:
        """The launches of a kernel in its own file and in `users`, on all paths that lead to them."""
        if not all(map(self._scopes.are_of, (module, *users))):
            self.__post_init__()
        found: list[LaunchSite] = []
        for scope in [self._scopes.of(one) for one in (module, *users)]:
            for wrapper in self._callers.launching(scope, module.path, kernel):
                found.extend(self._of_wrapper((module.path, kernel.first_line), wrapper))
        return tuple(_merged(found))

    def is_launched(self, module: Module, kernel: JitFunction, users: list[Module]) -> bool:
        """Whether host code seems to launch the kernel, be it in a way that cannot be evaluated."""
        scopes = [self._scopes.of(one) for one in (module, *users)]
        return any(self._callers.is_launched(scope, module.path, kernel) for scope in scopes)

    def _of_wrapper(self, kernel: tuple[str, int], wrapper: Entry) -> Iterator[LaunchSite]:
        """From the entries that lead to the wrapper; where none does, from the outermost functions that do."""
        entries, doubt = self._callers.entries(wrapper)
        sites = [site for entry in entries for site in self._of_entry(kernel, entry, wrapper, doubt)]
        for some in self._callers.between(wrapper) if not sites and wrapper not in entries else ():
            doubt = "its callers could not be followed"
            sites = [site for one in some for site in self._of_entry(kernel, one, wrapper, doubt)]
            if sites:
                break
        yield from sites

    def _of_entry(self, kernel: tuple[str, int], entry: Entry, wrapper: Entry, doubt: str) -> Iterator[LaunchSite]:
        for path in self.paths(entry):
            for one in path.launches:
                inside = any(function.node is wrapper.node for function in one.calls)
                if one.kernel.stands_at(*kernel) and inside:
                    yield LaunchSite(one, entry, one.conditions, one.ranks, self.arithmetic, doubt)

    def paths(self, entry: Entry) -> tuple[_Path, ...]:
        """The ways through a function of which nothing is known but itself."""
        if entry not in self._paths:
            read: _Read = {entry.node}
            found = tuple(self._enumerate(entry, {}, {}, read))
            if entry.node.decorator_list and not any(path.launches for path in found):
                self._bare.add(entry)  # a decorator may do what cannot be followed
                found = tuple(self._enumerate(entry, {}, {}, read))
            self._paths[entry] = found, read
        return self._paths[entry][0]

    def saved(self, entry: Entry) -> Mapping[Key, Value]:
        """What the forward of an autograd function leaves on its context for the backward that the entry is."""
        owner = entry.around[-1] if entry.around else None
        if entry.node.name != "backward" or not isinstance(owner, ast.ClassDef) or not entry.node.args.args:
            return {}
        context = entry.node.args.args[0].arg
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name == "forward" and node.args.args:
                own = ("input", node.args.args[0].arg)
                paths = self.paths(Entry(node, entry.scope, entry.around))
                path = next((one for one in paths if not one.ended), None)
                kept = {} if path is None else path.kept
                return {("input", context, *key[2:]): value for key, value in kept.items() if key[:2] == own}
        return {}

    def replay(self, site: LaunchSite, sizes: Mapping[str, int]) -> LaunchSite | Raised | NotKnown:
        """The launch with numbers put in for inputs, by their names; several rules ask at the same ones, and again
        after an edit of the kernel.
        """
        key = (site.call, site.entry, site.conditions, site.doubt, frozenset(sizes.items()))
        if key not in self._replayed:
            if len(self._replayed) >= _MOST_KEPT:
                self._replayed.clear()
            read: _Read = {site.entry.node}
            self._replayed[key] = self._replay(site, sizes, read), read
        return self._replayed[key][0]

    def _replay(self, site: LaunchSite, sizes: Mapping[str, int], read: _Read) -> LaunchSite | Raised | NotKnown:
        chosen = {condition.test: condition.holds for condition in site.conditions}
        reasons: list[str] = []
        for path in self._enumerate(site.entry, sizes, chosen, read):
            for one in path.launches:
                if one.call is site.call and not _differ(one.conditions, chosen):
                    found = LaunchSite(one, site.entry, one.conditions, one.ranks, self.arithmetic, site.doubt)
                    doubtful = next((c for c in one.conditions if c.test.reason and c.test.roots & _roots(sizes)), None)
                    return found if doubtful is None else NotKnown(f"it depends on {doubtful}: {doubtful.test.reason}")
            if path.is_cut:
                return NotKnown(path.ended)
            if not _differ(path.conditions, chosen):
                reasons.append(path.ended)
        return Raised(next((reason for reason in reasons if reason), "the host code does not get there"))

    def follow(self, module: Module, replaced: Mapping[ast.AST, ast.FunctionDef]) -> None:
        """Some functions of a file have other bodies now, and are other nodes: what did not rest on theirs holds."""
        self._scopes.follow(module, replaced)
        jit = {function.node for function in module.jit}
        gone = {before for before, after in replaced.items() if after not in jit}
        if not gone:
            return
        if self._scopes.rest_on(gone):
            self.__post_init__()
            return
        self._callers.forget(module)
        shown, self._tensors = self._tensors, {}
        self._paths = {
            entry: (paths, read)
            for entry, (paths, read) in self._paths.items()
            if gone.isdisjoint(read) and shown.get(entry) == self._shown_in(entry)
        }
        self._replayed = {
            key: (found, read)
            for key, (found, read) in self._replayed.items()
            if gone.isdisjoint(read) and key[1] in self._paths
        }
        self._bare &= self._paths.keys()

    def forget(self, module: Module) -> None:
        """Let go of what was found in a file that is done with."""
        self._paths = {entry: paths for entry, paths in self._paths.items() if entry.scope.module is not module}
        self._tensors = {entry: shown for entry, shown in self._tensors.items() if entry.scope.module is not module}

    def _enumerate(
        self, entry: Entry, sizes: Mapping[str, int], first: Mapping[Test, bool], read: _Read
    ) -> Iterator[_Path]:
        """Every way through the entry: first past what raises, then those that differ early.

        The functions whose text the ways rest on are added to what was `read`.
        """
        pending: list[tuple[int, int, Mapping[Test, bool]]] = [(0, 0, first)]
        seen: set[frozenset[tuple[Test, bool]]] = set()
        steps = _MOST_STEPS
        for _ in range(_MOST_PATHS):
            if not pending or steps <= 0:
                break
            choices = heappop(pending)[2]
            run, ended, is_cut = self._run(entry, sizes, choices, read, steps)
            steps = run.steps
            yield _Path(tuple(run.launches), tuple(run.facts.conditions), ended, is_cut, run.fields)
            way = dict(choices)
            last = run.settled[-1] if run.settled and ended else None
            for condition in run.settled:
                other = {**way, condition.test: not condition.holds}
                if condition.test not in choices and (key := frozenset(other.items())) not in seen:
                    seen.add(key)
                    heappush(
                        pending, (0 if condition is last else _RANKS.get(condition.test.relation, 1), len(seen), other)
                    )
                way[condition.test] = condition.holds

    def _run(
        self, entry: Entry, sizes: Mapping[str, int], choices: Mapping[Test, bool], read: _Read, steps: int
    ) -> tuple[Run, str, bool]:
        known: dict[Key, int] = {}
        chosen: list[Condition] = []
        for _ in range(_MOST_RESTARTS):
            run = Run(self.arithmetic, sizes, choices, dict(known), steps, apply, read)
            run.settled.extend(chosen)  # which the ranks now decide
            try:
                self._enter(run, entry)
            except Restart as restart:
                known[restart.key], steps = restart.rank, run.steps
                chosen += [] if restart.chosen is None else [restart.chosen]
                continue
            except (Raises, Contradiction) as error:
                return run, str(error), False
            except (OutOfBudget, TooLarge, RecursionError) as error:
                return run, f"the wrapper is too long to be evaluated ({type(error).__name__})", True
            return run, "", False
        return run, "the number of a tensor's dimensions does not settle", True

    def _enter(self, run: Run, entry: Entry) -> None:
        """Call the entry with nothing known of what is passed but what its annotations and its own text say."""
        spec = entry.node.args
        frame, shown = entry.frame(), self._shown_in(entry)
        given: dict[str, Value] = {}
        for arg in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs):
            symbol = Symbol(("input", arg.arg), arg.arg, "", frozenset((arg.arg,)))
            kind = None if arg.annotation is None else _kind_of(arg.annotation)
            if kind is not None or arg.arg in shown:
                run.kinds[symbol.key] = kind or _TENSOR
            given[arg.arg] = symbol
        owner, first = entry.around[-1] if entry.around else None, next(iter(given), "")
        if entry.is_method and first and isinstance(owner, ast.ClassDef):
            given[first] = Object(Class(owner, frame), given[first])
        positional = [given.pop(arg.arg) for arg in (*spec.posonlyargs, *spec.args)]
        apply(run, Function(entry.node, frame, is_bare=entry in self._bare), positional, given, None)

    def _shown_in(self, entry: Entry) -> frozenset[str]:
        """The parameters that the text of the entry, and of what it calls, shows to be tensors."""
        if entry not in self._tensors:
            self._tensors[entry] = _used_as_tensors(entry.node, entry.scope, _MOST_CALLS_DEEP)
        return self._tensors[entry]


_MOST_CALLS_DEEP = 3
_TENSOR = "torch.Tensor"
_OF_TENSORS = frozenset(("shape", "stride", "dtype", "size", "numel", "contiguous", "is_contiguous", "data_ptr"))


def used_as_tensors(node: ast.FunctionDef, module: Module) -> frozenset[str]:
    """The names that are asked for what only tensors have, in a function of the module."""
    attributes = (inner for inner in module.nodes(node).of(ast.Attribute) if inner.attr in _OF_TENSORS)
    return frozenset(inner.value.id for inner in attributes if isinstance(inner.value, ast.Name))


def _used_as_tensors(node: ast.FunctionDef, scope: Scope, depth: int) -> frozenset[str]:
    """Those, and the names that are passed to functions of the project which ask them for it."""
    found = set(used_as_tensors(node, scope.module))
    for call in scope.module.nodes(node).of(ast.Call) if depth else ():
        called = _called(scope, call)
        if called is not None and isinstance(called.node, ast.FunctionDef):
            names = [arg.arg for arg in (*called.node.args.posonlyargs, *called.node.args.args)]
            asked = _used_as_tensors(called.node, called.frame.scope, depth - 1)
            given = [*zip(names, call.args, strict=False), *((one.arg, one.value) for one in call.keywords)]
            found |= {one.id for name, one in given if name in asked and isinstance(one, ast.Name)}
    return frozenset(found)


def _called(scope: Scope, call: ast.Call) -> Function | None:
    """The function that a call is of, by its name or as a static method of a class, with no decorators beside."""
    owner, _, name = (dotted_name(call.func) or "").rpartition(".")
    found = scope.look_up(owner or name)
    if isinstance(found, Class):
        methods = (node for node in found.node.body if isinstance(node, ast.FunctionDef) and node.name == name)
        node = next(methods, None)
        is_static = node is not None and [ast.unparse(one) for one in node.decorator_list] == ["staticmethod"]
        return Function(node, found.frame) if node is not None and is_static else None
    is_plain = isinstance(found, Function) and isinstance(found.node, ast.FunctionDef) and not owner
    return found if is_plain and not found.node.decorator_list else None


_KINDS = {"torch.Tensor": _TENSOR, "Tensor": _TENSOR, "int": "int", "bool": "bool", "float": "float"}


@lru_cache(maxsize=4096)
def _kind_of(annotation: ast.expr) -> str | None:
    return _KINDS.get(ast.unparse(annotation))


def _differ(conditions: tuple[Condition, ...], chosen: Mapping[Test, bool]) -> bool:
    """Whether a path went another way than what was chosen."""
    return any(chosen.get(condition.test, condition.holds) is not condition.holds for condition in conditions)


def _roots(sizes: Mapping[str, int]) -> frozenset[str]:
    return frozenset(name.partition(".")[0] for name in sizes)


def _merged(sites: list[LaunchSite]) -> Iterator[LaunchSite]:
    """Launches that are the same on several paths are one, under what holds on all of them."""
    alike: dict[object, list[LaunchSite]] = {}
    for site in sites:
        grid = site.grid.key if isinstance(site.grid, Symbol) else tuple(map(_identity, site.grid))
        passed = tuple((name, _identity(value)) for name, value in site.arguments.items())
        alike.setdefault((id(site.call), site.entry, grid, passed), []).append(site)
    for same in alike.values():
        common = set(same[0].conditions).intersection(*(site.conditions for site in same[1:]))
        ranks = dict(set(same[0].ranks.items()).intersection(*(site.ranks.items() for site in same[1:])))
        kept = tuple(condition for condition in same[0].conditions if condition in common)
        yield replace(same[0], conditions=kept, ranks=ranks)


def _identity(value: Value) -> object:
    """What is the same for the same value on two paths."""
    if isinstance(value, Symbol):
        return value.key
    if isinstance(value, Tensor):
        return value.symbol.key, value.made
    if isinstance(value, (tuple, list)):
        return tuple(map(_identity, value))
    return value if isinstance(value, Hashable) else id(value)
