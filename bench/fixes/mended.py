"""The fixtures with a fix, as `--fix --unsafe-fixes` leaves them where the project targets one release of Triton."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.corpus import ROOT
from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.finding import Finding
from tritonaudit.fixes import is_fixable, mend

_FIXTURES = ROOT / "fixtures" / "rules"


@dataclass(frozen=True)
class Fixture:
    """A rule's `bad.py` before and after its fixes, and the kernels that these are in; the rule's alone are applied."""

    code: str
    before: str
    after: str
    kernels: tuple[str, ...]


def fixtures(release: str) -> Iterator[Fixture]:
    """Every fixture that has a `bad.fixed.py`, or something to fix in this release; kernels are those with a fix."""
    for bad in sorted(_FIXTURES.glob("*/bad.py")):
        code = bad.parent.name.partition("_")[0]
        config = Config(ROOT, select=(code,), target_triton=f"=={release}")
        kernels: dict[str, None] = {}

        def look(text: str) -> tuple[Finding, ...]:
            found = check_text(text.encode(), bad, config).findings  # noqa: B023
            fixable = (finding for finding in found if is_fixable(finding, unsafe=True))
            kernels.update(dict.fromkeys(finding.kernel for finding in fixable if finding.kernel))  # noqa: B023
            return found

        before = bad.read_text(encoding="utf-8")
        mended = mend(before, look, unsafe=True)
        if kernels or bad.with_name("bad.fixed.py").exists():
            yield Fixture(code, before, mended.text, tuple(kernels))
