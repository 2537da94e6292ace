"""tritonaudit: the audit linter for Triton GPU kernels."""

from pathlib import Path

__version__ = "0.1.0"

# In a checkout `rules/` stands beside this package; wheels ship it inside, as `tritonaudit/rules`.
_here = Path(__file__).resolve().parent
if not (_here / "rules").exists() and (_here.parent / "rules" / "__init__.py").exists():
    __path__.append(str(_here.parent))
