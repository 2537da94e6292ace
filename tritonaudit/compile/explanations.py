"""What the compiler's complaints mean and what to do about them, by the words that Triton 3.2 to 3.9 use."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Explanation:
    """A complaint in plain words, and its remedy.

    `is_hardware` says that the target's hardware lacks something, `prunes` that an autotuner passes over a config
    that fails so: over a failed `tl.static_assert`, from 3.3 on over what ptxas rejects, and over nothing else.
    `is_of_text` says that the text alone is to blame, whichever arguments are passed.
    """

    meaning: str
    remedy: str
    is_hardware: bool = False
    prunes: bool = False
    is_of_text: bool = False

    @property
    def aside(self) -> str:
        """The meaning as an aside in a sentence; empty where the complaint needs none."""
        return f" ({self.meaning})" if self.meaning else ""


def explain(message: str) -> Explanation | None:
    """The explanation of a complaint, None where it is not a known one."""
    words = " ".join(message.split())
    return next((known for pattern, known in _KNOWN if pattern.search(words)), None)


def _known(pattern: str, meaning: str, remedy: str, **more: bool) -> tuple[re.Pattern[str], Explanation]:
    return re.compile(pattern), Explanation(meaning, remedy, **more)


_KNOWN = (
    _known(
        r"Block pointers have been removed",
        "Triton 3.9 no longer has them",
        "use a tensor descriptor (`tl.make_tensor_descriptor`), or pointers with a mask",
        is_of_text=True,
    ),
    _known(
        r"arange's range must be a power of 2|Shape element \d+ must be a power of 2",
        "",
        "round the size up with `triton.next_power_of_2` at the launch, and mask what is past the end",
    ),
    _known(
        r"must be of type tl\.constexpr|must have type `constexpr|as tl\.static_range .* value is not a constexpr",
        "a size must be known when the kernel is compiled",
        "annotate the parameter with `tl.constexpr`",
    ),
    _known(
        r"exceeds triton maximum tensor numel",
        "a block holds at most 1,048,576 elements",
        "use a smaller tile and walk over the rest in a loop",
    ),
    _known(
        r"incompatible dimensions at index",
        "the shapes do not broadcast",
        "add the missing axis to one of them: `x[:, None]` or `x[None, :]`",
    ),
    _known(
        r"Input shapes should have M >= |All non-batch values in both",
        "each side of a `tl.dot` has a minimum size, which depends on the type and the Triton version",
        "use a larger tile, padded by masks",
    ),
    _known(
        r"(operands|input) must (be|have) (the )?same dtype|must have the same dtype",
        "`tl.dot` multiplies operands of one type only",
        "cast one of them: `.to(other.dtype)`",
    ),
    _known(
        r"Loop-carried variable \w+ has initial type|Loop carried variable \w+ changed type",
        "a variable that a loop changes keeps the type that it has before the loop",
        "give it that type at the start (`0.0` for `0`, `tl.zeros` for a scalar), or cast in the loop",
    ),
    _known(
        r"Mismatched type for \w+ between then block|but the then block redefines it",
        "a variable has one type after an `if`, whichever branch is taken",
        "cast in one of the branches",
    ),
    _known(
        r"Cannot access global variable",
        "a kernel can read a global only if it is a constexpr, and call a function only if it is jitted",
        "write `NAME = tl.constexpr(value)` or pass it as an argument; decorate a function with `@triton.jit`",
        is_of_text=True,
    ),
    _known(
        r"Expected dtype \['fp32', 'fp64'\] but got",
        "this function computes in 32 or 64 bits only",
        "cast its operand first: `.to(tl.float32)`",
    ),
    _known(
        r"unsupported AST node type|is not supported in triton|nested function definition",
        "the language of kernels lacks this construct",
        "write it with loops, `tl.where` and masks",
        is_of_text=True,
    ),
    _known(
        r"Boolean value of Tensor with more than one value is ambiguous",
        "a block of values has no single truth value",
        "use `tl.where` or a mask, or reduce it first: `tl.max(…)`",
    ),
    _known(
        r"module 'triton\.language(\.\w+)*' has no attribute",
        "this Triton version has no such name",
        "see which versions have it, or compute it from what there is",
        is_of_text=True,
    ),
    _known(
        r"Did you forget to add @triton\.jit|Unsupported function referenced|is being called from a Triton function",
        "a kernel can call a function only if it is jitted",
        "decorate it with `@triton.jit`, or compute it at the launch and pass it",
    ),
    _known(
        r"fp8\w* not supported in this architecture|fp8\w* data type is not supported on CUDA arch",
        "the target's hardware lacks this type",
        "convert before the kernel on such hardware, or leave the target out",
        is_hardware=True,
    ),
    _known(
        r"num_ctas > 1 (requires|not supported)",
        "the target's hardware has no clusters of blocks",
        "leave such configs out there, by `prune_configs_by`: the autotuner does not skip them",
        is_hardware=True,
    ),
    _known(
        r"^the launch passes .* which the configs of its autotuner set",
        "Triton takes a value from one of them only",
        "leave it out of the launch, or out of the configs",
        is_of_text=True,
    ),
    _known(
        r"requires \.target sm_\d+ or higher|requires NVIDIA SM\d+",
        "the target's hardware lacks this instruction",
        "choose another way on such hardware, or leave the target out",
        is_hardware=True,
        prunes=True,
    ),
    _known(
        r"^static assertion failed: ",
        "",
        "make the launch satisfy what the kernel asserts",
        prunes=True,
    ),
    _known(
        r"^ptxas: ",
        "the assembler rejects what Triton made of the kernel",
        "try another tile or number of warps, or another Triton version",
        prunes=True,
    ),
)

_WARNINGS = (
    _known(
        r"Logical operators 'and' and 'or' are deprecated",
        "on blocks they will become errors, and they bind less tightly than a comparison where `&` binds more tightly",
        "write `&` or `|`, with parentheses around each comparison",
        is_of_text=True,
    ),
    _known(
        r"tl\.where with a non-boolean condition",
        "",
        "make the condition a comparison: `condition != 0`",
    ),
    _known(
        r"If conditional called with multidimensional Tensor",
        "a block of values has no single truth value",
        "use `tl.where` or a mask, or reduce it first: `tl.max(…)`",
    ),
    _known(
        r"exceeds the maximum bitwidth",
        "what such a shift gives is undefined",
        "cast to a wider type before the shift",
    ),
    _known(
        r"builtin (max|min) on non-scalar tensor",
        "",
        "use `tl.maximum` or `tl.minimum`",
    ),
    _known(
        r"view is deprecated",
        "it may reorder what it reshapes",
        "use `tl.reshape`",
        is_of_text=True,
    ),
    _known(
        r"upcasted to fp16|fp8e4b15 is deprecated",
        "the target's hardware lacks the type",
        "use the fp8 type that the target has",
        is_hardware=True,
    ),
)


def explain_warning(message: str) -> Explanation | None:
    """The explanation of a warning, None where it is not a known one."""
    return next((known for pattern, known in _WARNINGS if pattern.search(message)), None)
