"""tritonaudit: the audit linter for Triton GPU kernels."""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonaudit.farm.judging import judge, judge_async
    from tritonaudit.simulator.api import simulate
    from tritonaudit.subject.model import Case, Layout, Offsets, Size, Subject, Tensor
    from tritonaudit.suites.reproduce import reproduce

__version__ = "0.1.0"
__all__ = ["Case", "Layout", "Offsets", "Size", "Subject", "Tensor", "judge", "judge_async", "reproduce", "simulate"]

_HOMES = {
    "judge": "tritonaudit.farm.judging",
    "judge_async": "tritonaudit.farm.judging",
    "reproduce": "tritonaudit.suites.reproduce",
    "simulate": "tritonaudit.simulator.api",
}

# In a checkout `rules/` stands beside this package; wheels ship it inside, as `tritonaudit/rules`.
_here = Path(__file__).resolve().parent
if not (_here / "rules").exists() and (_here.parent / "rules" / "__init__.py").exists():
    __path__.append(str(_here.parent))


def __getattr__(name: str) -> Any:
    """What specs and tests are written with, imported when it is asked for: a command line needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "tritonaudit.subject.model")), name)
