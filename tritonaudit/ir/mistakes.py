"""What the front end finds wrong, as facts: rules give them their words."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from tritonaudit.target import Version


class MistakeKind(Enum):
    """One way in which a kernel's language is wrong."""

    # names
    UNDEFINED = auto()
    ONE_PATH = auto()
    PYTHON_BUILTIN = auto()
    GLOBAL = auto()
    ANNOTATED_GLOBAL = auto()
    HOST_FUNCTION = auto()
    HOST_LIBRARY = auto()
    HOST_MATH = auto()
    CONVERSION = auto()
    NOT_CONSTANT_CALL = auto()
    LAUNCH_INSIDE = auto()
    # constants
    NEEDS_CONSTANT = auto()
    LOST_CONSTANT = auto()
    CONSTANT_AGAIN = auto()
    CONSTANT_IN_LOOP = auto()
    ARGUMENT_IS_ONE = auto()
    CONDITION_KIND = auto()
    STATIC_ASSERT = auto()
    STATIC_ASSERT_RUNTIME = auto()
    OUT_OF_RANGE = auto()
    STRING = auto()
    FSTRING = auto()
    NO_NUMBER = auto()
    PLAIN_ASSERT = auto()
    # control
    BLOCK_CONDITION = auto()
    LOOP_CONSTANT = auto()
    LOOP_NUMBER = auto()
    LOOP_OVER = auto()
    LOOP_BOUND = auto()
    LOOP_KEYWORD = auto()
    KERNEL_RETURNS = auto()
    RETURN_TYPES = auto()
    RETURN_IN_ONE = auto()
    BOTH_RETURN = auto()
    RECURSION = auto()
    RAISE = auto()
    LOOP_VARIABLE = auto()
    # types
    BRANCH_TYPES = auto()
    LOOP_TYPE = auto()
    TERNARY_TYPES = auto()
    OPERANDS = auto()
    FLOAT_FLOOR = auto()
    POWER = auto()
    MATMUL = auto()
    SIGNEDNESS = auto()
    BOOLEAN_OF_NUMBERS = auto()
    LONG_CHAIN = auto()
    NONE_EQUALS = auto()
    MEMBERSHIP = auto()
    PRECEDENCE = auto()
    MASK_ARITHMETIC = auto()
    MATH_DTYPE = auto()
    CAST = auto()
    DTYPE_KIND = auto()
    ATOMIC_DTYPE = auto()
    NO_VALUE = auto()
    # shapes
    BLOCK_SHAPE = auto()
    TOO_LARGE = auto()
    SHAPES = auto()
    RANKS = auto()
    ARANGE = auto()
    NOT_A_SHAPE = auto()
    INDEX = auto()
    SET_ITEM = auto()
    SET_ATTRIBUTE = auto()
    ATTRIBUTE = auto()
    AXIS = auto()
    REDUCES_SCALAR = auto()
    SPLIT = auto()
    # memory
    NOT_A_POINTER = auto()
    OTHER_WITHOUT_MASK = auto()
    BLOCK_FOR_SCALAR = auto()
    MASK_DTYPE = auto()
    OPTION_VALUE = auto()
    BLOCK_POINTER = auto()
    DESCRIPTOR = auto()
    RESULT_DROPPED = auto()
    # dot
    DOT_OPERANDS = auto()
    DOT_SHAPES = auto()
    DOT_ACCUMULATOR = auto()
    DOT_OPTIONS = auto()
    # calls
    ARGUMENTS = auto()
    ARGUMENT_VALUE = auto()
    CALL = auto()
    PARAMETERS = auto()
    ASSIGNMENT = auto()
    # silent
    DOT_DROPPED = auto()
    IGNORED_KEYWORD = auto()
    INTEGER_INFINITY = auto()
    NARROW_SUM = auto()
    LATE_WIDENING = auto()


COMPILES = frozenset(
    {
        MistakeKind.LATE_WIDENING,
        MistakeKind.NARROW_SUM,
        MistakeKind.INTEGER_INFINITY,
        MistakeKind.MASK_ARITHMETIC,
        MistakeKind.DOT_DROPPED,
        MistakeKind.RESULT_DROPPED,
        MistakeKind.IGNORED_KEYWORD,
        MistakeKind.LOOP_KEYWORD,
        MistakeKind.BOOLEAN_OF_NUMBERS,
        MistakeKind.RETURN_IN_ONE,
    }
)
"""Kinds that most releases compile: a finding of them is as bad wherever it is."""


@dataclass(frozen=True, eq=False)
class Mistake:
    """Something that the releases `releases` of the target reject, or get wrong, at a node of the text.

    `words` are what a message names; `what` tells variants of one kind apart; `since` and `until` bound the releases of
    which it is true, whatever the target. One that is not `sure` stands where no known launch may lead.
    """

    kind: MistakeKind
    node: ast.AST
    what: str
    words: Mapping[str, object] = field(default_factory=dict)
    releases: tuple[Version, ...] = ()
    since: Version | None = None
    until: Version | None = None
    sure: bool = True
