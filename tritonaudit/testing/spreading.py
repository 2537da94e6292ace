"""How xdist spreads tests with `-n`: those of a subject go to one worker, for it is run once, all others anywhere."""

from __future__ import annotations

from fnmatch import fnmatch

from xdist.scheduler import LoadGroupScheduling

from tritonaudit.suites.suite import Suite

_SUITES = frozenset(suite.value for suite in Suite)


class SubjectScheduling(LoadGroupScheduling):  # type: ignore[misc]
    """Whatever has the same scope stays together; all tests that time have one, for they would disturb each other.

    Marked groups stay so, too: some releases of xdist and pytest together do not see the marks.
    """

    def _split_scope(self, nodeid: str) -> str:
        file, *names = nodeid.split("::")
        if not fnmatch(file.rpartition("/")[2], "audit_*.py") or len(names) < 2 or names[-1] not in _SUITES:
            scope: str = super()._split_scope(nodeid)
            return scope
        return Suite.PERFORMANCE.value if names[-1] == Suite.PERFORMANCE.value else nodeid.rpartition("::")[0]
