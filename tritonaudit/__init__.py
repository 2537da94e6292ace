"""tritonaudit: the audit linter for Triton GPU kernels."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tritonaudit.subject.model import Case, Offsets, Size, Subject, Tensor

__version__ = "0.1.0"
__all__ = ["Case", "Offsets", "Size", "Subject", "Tensor"]

# In a checkout `rules/` stands beside this package; wheels ship it inside, as `tritonaudit/rules`.
_here = Path(__file__).resolve().parent
if not (_here / "rules").exists() and (_here.parent / "rules" / "__init__.py").exists():
    __path__.append(str(_here.parent))


def __getattr__(name: str) -> Any:
    """What a spec file is written with, imported when it is asked for: a command line needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from tritonaudit.subject import model

    return getattr(model, name)
