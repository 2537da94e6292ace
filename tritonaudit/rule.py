"""What a rule is: metadata that must be complete, and a `check` over one type of facts."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, get_type_hints

from tritonaudit.finding import Category, Confidence, Extent, Fix, Place, Severity, Stage, Witness

if TYPE_CHECKING:
    from libcst import CSTNode

_CODE = re.compile(r"TA[CPMNBX][1-5]\d\d|TAX\d\d\d")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Hit:
    """A finding as a rule knows it: at a node or a span, not yet in a file.

    `severity` and `confidence` are the rule's own unless given. `related` pairs places with what they explain. What is
    wrong in another file, such as a launch, is reported at the kernel's name, and has no fix. `way` are the places
    through which execution comes to it, from the launch on, where they are known.
    """

    where: CSTNode | Place
    message: str
    remedy: str | None = None
    severity: Severity | None = None
    confidence: Confidence | None = None
    related: tuple[tuple[CSTNode | Place, str], ...] = ()
    fix: Fix | None = None
    witness: Witness | None = None
    cause: str | None = None
    way: tuple[tuple[CSTNode | Place, str], ...] = ()


class Fixable(Enum):
    """What can be done about what a rule finds; of some findings even then nothing."""

    NO = "no"
    SAFE = "safe"
    UNSAFE = "unsafe"
    EITHER = "safe or unsafe"


class Rule:
    """One rule. A subclass gives the metadata and `check`, whose parameter's annotation names the facts it reads.

    What it says in the same words several times in what `once_in` names is one finding in a report.
    A rule whose confidence is low is pedantic: it is off unless asked for, and none of its findings is surer.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    severity: ClassVar[Severity]
    confidence: ClassVar[Confidence]
    since: ClassVar[str]
    once_in: ClassVar[Extent | None] = None
    fixable: ClassVar[Fixable] = Fixable.NO

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for attribute in ("code", "name", "summary", "severity", "confidence", "since"):
            if not hasattr(cls, attribute):
                raise TypeError(f"rule {cls.__name__} does not declare its {attribute}")
        if not _CODE.fullmatch(cls.code):
            raise TypeError(f"rule {cls.__name__}: {cls.code!r} is not a code such as TAM101")
        if not _NAME.fullmatch(cls.name):
            raise TypeError(f"rule {cls.__name__}: {cls.name!r} is not a name such as unmasked-access")
        if not cls.summary.endswith("."):
            raise TypeError(f"rule {cls.__name__}: the summary is one sentence")

    def check(self, facts: Any) -> Iterator[Hit]:
        """The hits in one piece of facts."""
        raise NotImplementedError

    @classmethod
    def category(cls) -> Category:
        return Category(cls.code[2])

    @classmethod
    def is_pedantic(cls) -> bool:
        """Whether all that it finds is shown under `--pedantic` alone, or where the rule is asked for by its name."""
        return cls.confidence is Confidence.LOW

    @classmethod
    def stage(cls) -> Stage:
        """The stage that finds it; the tool's own rules belong to the source stage."""
        if cls.category() is Category.TOOL:
            return Stage.SOURCE
        return next(stage for stage in Stage if cls.code[3] in stage.value)

    @classmethod
    def facts(cls) -> type:
        """The type of the facts that `check` reads."""
        parameter = list(inspect.signature(cls.check).parameters)[1]
        hint: type = get_type_hints(cls.check)[parameter]
        return hint

    @classmethod
    def page(cls) -> str:
        """The rule's documentation, the Markdown file beside its module."""
        return cls.page_file().read_text(encoding="utf-8")

    @classmethod
    def page_file(cls) -> Path:
        """Where its documentation stands."""
        return Path(inspect.getfile(cls)).with_suffix(".md")
