"""The fixtures with a fix, as `--fix --unsafe-fixes` leaves them where the project targets one release of Triton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.corpus import ROOT
from tritonaudit.config import Config
from tritonaudit.engine import text_checker
from tritonaudit.finding import Finding
from tritonaudit.fixes.applying import apply_fixes, is_fixable

_FIXTURES = ROOT / "fixtures" / "rules"


@dataclass(frozen=True)
class Fixture:
    """A rule's `bad.py` before and after its fixes, and the kernels that these are in; the rule's alone are applied.

    `safe` is the text with the safe ones only, which are in the `safe_kernels`.
    """

    code: str
    before: str
    safe: str
    after: str
    safe_kernels: tuple[str, ...]
    kernels: tuple[str, ...]


def fixtures(release: str) -> Iterator[Fixture]:
    """Every fixture that has a `bad.fixed.py`, or something to fix in this release; kernels are those with a fix."""
    for bad in sorted(_FIXTURES.glob("*/bad.py")):
        before = bad.read_text(encoding="utf-8")
        safe, safe_kernels = _fixed(bad, before, release, unsafe=False)
        after, kernels = _fixed(bad, before, release, unsafe=True)
        if kernels or bad.with_name("bad.fixed.py").exists():
            yield Fixture(code_of(bad), before, safe, after, safe_kernels, kernels)


def code_of(bad: Path) -> str:
    """The code of the rule whose fixture it is."""
    return bad.parent.name.partition("_")[0]


def _fixed(bad: Path, before: str, release: str, *, unsafe: bool) -> tuple[str, tuple[str, ...]]:
    """The text with the fixes of the fixture's rule, and the kernels that these are in; it is a project of its own."""
    alone = Path("/nowhere") / bad.name
    check = text_checker(Config(alone.parent, select=(code_of(bad),), target_triton=f"=={release}"))
    kernels: dict[str, None] = {}

    def look(text: str) -> tuple[Finding, ...]:
        found = check(text.encode(), alone).findings
        fixable = (finding for finding in found if is_fixable(finding, unsafe=unsafe))
        kernels.update(dict.fromkeys(finding.kernel for finding in fixable if finding.kernel))
        return found

    return apply_fixes(before, look, unsafe=unsafe).text, tuple(kernels)
