"""What is wrong with a use of a name, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from tritonaudit.api.problems import Problem, ProblemKind
from tritonaudit.api.table import Table
from tritonaudit.target import Target, Version, written


def sentence(table: Table, problem: Problem, target: Target) -> str:
    """The message of a finding."""
    name = spelled(problem)
    if problem.kind is ProblemKind.TOO_MANY:
        given = len(problem.use.call.args) if problem.use.call else 0
        most = f"{problem.limit} positional argument{'' if problem.limit == 1 else 's'}"
        return f"`{name}` takes at most {most} and is given {given}{_asked(table, problem, target)}"
    if problem.kind is ProblemKind.MISSING:
        return f"`{name}` is called without `{problem.parameter}`, which has no default{_asked(table, problem, target)}"
    if problem.kind is ProblemKind.BY_PATH:
        return f"`{name}`, spelled out, does not compile{_asked(table, problem, target)}"
    if problem.parameter is not None:
        return _of_parameter(table, problem, name, target)
    if problem.kind is ProblemKind.UNKNOWN:
        return f"no release of Triton has `{name}`"
    having = [version for version in problem.name.definitions if problem.name.usable(version)]
    if problem.kind is ProblemKind.GONE:
        return f"`{name}` was removed in Triton {_after(table, having, problem)}{_target(target)}"
    if problem.kind is ProblemKind.NOT_YET:
        return (
            f"`{name}` was added in Triton {_came(having, problem)}"
            f" and is not in {_listed(table, problem)}{_target(target)}"
        )
    return f"`{name}` has been deprecated since Triton {written(_deprecated_since(problem))}"


def spelled(problem: Problem) -> str:
    """The part of the name that is wrong, as the file spells it."""
    beyond = problem.use.origin.count(".") - problem.name.dotted.count(".")
    parts = problem.use.written.split(".")
    return ".".join(parts[: len(parts) - beyond]) if beyond < len(parts) else problem.name.dotted


def _of_parameter(table: Table, problem: Problem, name: str, target: Target) -> str:
    parameter = f"`{problem.parameter}=`"
    if problem.kind is ProblemKind.UNKNOWN:
        return f"`{name}` takes no {parameter} in any release of Triton"
    having = [version for version in problem.name.definitions if _takes(problem, version)]
    if problem.kind is ProblemKind.GONE:
        return f"`{name}` no longer takes {parameter} since Triton {_after(table, having, problem)}{_target(target)}"
    if problem.kind is ProblemKind.NOT_YET:
        came = _came(having, problem)
        return f"`{name}` takes {parameter} only since Triton {came}, not in {_listed(table, problem)}{_target(target)}"
    return f"{parameter} of `{name}` has been deprecated since Triton {written(_deprecated_since(problem))}"


def _takes(problem: Problem, version: Version) -> bool:
    parameters = problem.name.definitions[version].parameters or ()
    return any(parameter.name == problem.parameter and not parameter.star for parameter in parameters)


def _after(table: Table, having: Sequence[Version], problem: Problem) -> str:
    """The release in which it went."""
    last = max(version for version in having if version < problem.versions[-1])
    return written(next(release for release in table.releases if release > last))


def _came(having: Sequence[Version], problem: Problem) -> str:
    return written(min(version for version in having if version > problem.versions[0]))


def _deprecated_since(problem: Problem) -> Version:
    """The first release of the last stretch in which it is deprecated."""
    since = problem.versions[-1]
    for version in sorted(problem.name.definitions, reverse=True):
        if version > since:
            continue
        if not _is_deprecated(problem, version):
            break
        since = version
    return since


def _is_deprecated(problem: Problem, version: Version) -> bool:
    definition = problem.name.definitions[version]
    if problem.parameter is None:
        return definition.state == "deprecated"
    return any(
        parameter.name == problem.parameter and parameter.deprecated for parameter in definition.parameters or ()
    )


def _listed(table: Table, problem: Problem) -> str:
    releases = [written(version) for version in problem.versions]
    first, last = (table.releases.index(problem.versions[end]) for end in (0, -1))
    if len(releases) > 2 and last - first + 1 == len(releases):
        return f"{releases[0]} to {releases[-1]}"
    return releases[0] if len(releases) == 1 else f"{', '.join(releases[:-1])} and {releases[-1]}"


def _asked(table: Table, problem: Problem, target: Target) -> str:
    """In which releases, where not in all that are targeted."""
    return "" if problem.versions == target.versions else f" in Triton {_listed(table, problem)}{_target(target)}"


def _target(target: Target) -> str:
    return f" (target {target.text})"
