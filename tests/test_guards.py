"""What a file says about older releases of Triton by an arm of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritonaudit.config import Config
from tritonaudit.engine import check_text
from tritonaudit.guards import guarded_target
from tritonaudit.source.outline import outline
from tritonaudit.target import DEFAULT, Target

IMPORTS = "import operator\nimport triton\nfrom packaging.version import Version\nfrom elsewhere import compare\n"


def oldest(text: str, default: str = DEFAULT) -> tuple[int, int] | None:
    """The oldest release that the file means to run on; None where it is the default's."""
    found = guarded_target(outline("/nowhere/m.py", IMPORTS + text), Target.parse(default))
    return None if found is None else found.versions[0]


@pytest.mark.parametrize(
    "test",
    [
        'compare("triton", operator.ge, "3.0.0")',
        'Version(triton.__version__) >= Version("3.0.0")',
        'triton.__version__ >= "3.0"',
    ],
)
def test_an_arm_for_older_releases_widens_the_target(test: str) -> None:
    assert oldest(f"if {test}:\n    NEW = True\nelse:\n    NEW = False\n") == (2, 3)


def test_the_arm_may_come_first() -> None:
    assert oldest('if compare("triton", operator.lt, "3.1"):\n    OLD = True\n') == (3, 0)


@pytest.mark.parametrize(
    "text",
    [
        'if triton.__version__ >= "3.0":\n    NEW = True\n',
        'if triton.__version__ >= "3.0":\n    NEW = True\nelse:\n    raise ImportError("too old")\n',
        'if triton.__version__ >= "3.0" and operator:\n    NEW = True\nelse:\n    NEW = False\n',
        'if compare("torch", operator.ge, "2.3"):\n    NEW = True\nelse:\n    NEW = False\n',
        'if triton.__version__ >= "3.6":\n    NEW = True\nelse:\n    NEW = False\n',
        'if triton.__version__ > "3.0":\n    NEW = True\nelse:\n    NEW = False\n',
    ],
)
def test_what_says_nothing_about_older_releases_leaves_it(text: str) -> None:
    assert oldest(text) is None


def test_a_method_that_the_older_release_lacks_is_found(tmp_path: Path) -> None:
    text = (
        "import triton\nimport triton.language as tl\n\n"
        'if triton.__version__ >= "3.0":\n    NEW = True\nelse:\n    NEW = False\n\n\n'
        "@triton.jit\ndef kernel(out_ptr):\n    row = tl.program_id(0).cast(tl.int64)\n    tl.store(out_ptr + row, 1)\n"
    )

    def codes(config: Config) -> set[str]:
        return {finding.code for finding in check_text(text.encode(), tmp_path / "m.py", config).findings}

    assert codes(Config(tmp_path)) == {"TAC125"}
    assert codes(Config(tmp_path, target_triton=">=3.2")) == set()
