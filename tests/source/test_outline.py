"""What a file says at a glance: which functions are kernels, and what its names are elsewhere."""

from __future__ import annotations

import pytest

from tritonaudit.finding import Span
from tritonaudit.source.outline import Module, Unparsable, may_hold_kernels, outline, span_of

IMPORTS = "import triton\nimport triton.language as tl\n"
BODY = "def kernel(x):\n    tl.store(x, 1)\n"


def kernels(text: str) -> list[str]:
    return [function.qualname for function in outline("m.py", text).jit]


def module(text: str) -> Module:
    return outline("m.py", text)


# -- the prefilter -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "import triton\n@triton.jit\ndef f(): pass\n",
        "from mypkg.compat import tl, jit\n",
        "kernel = triton.jit(fn)\n",
        "from mypkg import triton_jit\n",
    ],
)
def test_a_file_that_spells_both_words_may_hold_kernels(text: str) -> None:
    assert may_hold_kernels(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "import triton\n",
        "@numba.jit\ndef f(): pass\n",
        "@jit\ndef atlas(tlx): pass\n",
        "import triton.language as tl",
    ],
)
def test_a_file_without_one_of_the_words_is_passed_over(text: str) -> None:
    assert not may_hold_kernels(text.encode())


def test_the_prefilter_bears_bytes_that_are_no_text() -> None:
    assert may_hold_kernels(b"\xff\xfe jit \x00 triton")


# -- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "spelled"),
    [
        ("import triton.language as tl", "tl.load"),
        ("import triton.language as language", "language.load"),
        ("import triton.language", "triton.language.load"),
        ("import triton", "triton.language.load"),
        ("import triton as t", "t.language.load"),
        ("from triton import language as tl", "tl.load"),
        ("from triton import language", "language.load"),
        ("from triton.language import load", "load"),
        ("from triton.language import load as fetch", "fetch"),
        ("from mypkg.compat import tl, triton", "tl.load"),
        ("from mypkg.compat import tl, triton", "triton.language.load"),
        ("from mypkg.compat import tl as lang", "lang.load"),
        ("from .compat import tl", "tl.load"),
        ("from . import tl", "tl.load"),
        ("import triton.language as tl\nfetch = tl.load", "fetch"),
        ("import triton.language as tl\nfetch: object = tl.load", "fetch"),
        ("try:\n    import triton.language as tl\nexcept ImportError:\n    pass", "tl.load"),
        ("if 1:\n    pass\nelse:\n    import triton.language as tl", "tl.load"),
        ("def make():\n    import triton.language as tl", "tl.load"),
        ("class Op:\n    def make(self):\n        from triton import language as tl", "tl.load"),
        ("with quiet():\n    import triton.language as tl", "tl.load"),
    ],
)
def test_names_are_followed_to_what_they_are_elsewhere(head: str, spelled: str) -> None:
    assert module(head + "\n").origin(spelled) == "triton.language.load"


def test_other_names_stay_what_they_are() -> None:
    found = module("import numpy as np\nfrom .ops import exp\nfrom . import ops\nfrom a.b import c as d\n")
    assert [found.origin(name) for name in ("np.exp", "exp", "ops.exp", "d", "unknown.x")] == [
        "numpy.exp", ".ops.exp", ".ops.exp", "a.b.c", "unknown.x",
    ]  # fmt: skip


def test_module_constants_are_kept_as_they_are_written() -> None:
    constants = module("BLOCK = 64\nSCALE: float = 0.5\na, b = 1, 2\nEMPTY: int\n").constants
    assert set(constants) == {"BLOCK", "SCALE"}


# -- decorators ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "decorators"),
    [
        (IMPORTS, "@triton.jit"),
        (IMPORTS, "@triton.jit()"),
        (IMPORTS, "@triton.jit(do_not_specialize=['n'], debug=True)"),
        (IMPORTS, "@triton.jit(\n    noinline=True,\n)"),
        (IMPORTS, "@(triton.jit)"),
        (IMPORTS + "from triton import jit\n", "@jit"),
        (IMPORTS + "jit = triton.jit\n", "@jit"),
        (IMPORTS + "from triton.runtime.jit import jit\n", "@jit"),
        (IMPORTS + "from triton.runtime import jit\n", "@jit"),
        ("import triton as t\nfrom triton import language as tl\n", "@t.jit"),
        ("from mypkg.compat import tl, triton\n", "@triton.jit"),
        (IMPORTS, "@triton.autotune(configs=[triton.Config({'B': 64})], key=['n'])\n@triton.jit"),
        (IMPORTS, "@triton.heuristics({'EVEN': lambda args: args['n'] % 64 == 0})\n@triton.jit"),
        (IMPORTS, "@triton.autotune([], [])\n@triton.heuristics({})\n@triton.jit"),
        (IMPORTS + "from mypkg import tuned\n", "@tuned(cache='x')\n@triton.jit"),
        (IMPORTS + "from mypkg import tuned\n", "@triton.jit\n@tuned"),
        (IMPORTS + "import my\n", "@my.triton_jit"),
        (IMPORTS + "import my\n", "@my.triton_jit(debug=True)"),
        (IMPORTS + "from my import gluon_free_jit\n", "@gluon_free_jit"),
        ("from my import tl, jit\n", "@jit"),
        pytest.param(
            IMPORTS + "from triton import jit as compiled\n",
            "@compiled",
        ),
        pytest.param(
            IMPORTS + "import functools\n",
            "@functools.partial(triton.jit, debug=True)",
        ),
    ],
)
def test_a_decorator_makes_a_kernel(head: str, decorators: str) -> None:
    assert kernels(f"{head}{decorators}\n{BODY}") == ["kernel"]


@pytest.mark.parametrize(
    "text",
    [
        "import triton\nimport numba\n@numba.jit\ndef f(x):\n    return x + 1\n",
        IMPORTS + "from numba import njit\n@njit(parallel=True)\ndef f(x):\n    return x + 1\n",
        IMPORTS + "from numba import cuda\n@cuda.jit\ndef f(x):\n    return x + 1\n",
        IMPORTS + "import jax\n@jax.jit\ndef f(x):\n    return x + 1\n",
        IMPORTS + "import functools, jax\n@functools.partial(jax.jit, static_argnums=0)\ndef f(x):\n    return x\n",
        IMPORTS + "import torch\n@torch.jit.script\ndef f(x):\n    return x\n",
        IMPORTS + "import torch\n@torch.compile\ndef f(x):\n    return kernel[(1,)](x)  # triton.jit\n",
        IMPORTS + "import tilelang\nimport tilelang.language as T\n@tilelang.jit\ndef f(x):\n    T.copy(x, x)\n",
        IMPORTS + "from triton.experimental import gluon\n@gluon.jit\ndef f(x):\n    tl.store(x, 1)\n",
        IMPORTS + "@triton.jitter\ndef f(x):\n    tl.store(x, 1)\n",
        IMPORTS + "@decorators['jit']\ndef f(x):\n    tl.store(x, 1)\n",
        IMPORTS + "def f(x):\n    tl.store(x, 1)\n",
        IMPORTS + "@triton.jit\nasync def f(x):\n    tl.store(x, 1)\n",
        IMPORTS + "@triton.jit\nclass F:\n    pass\n",
    ],
)
def test_functions_of_other_compilers_are_no_kernels(text: str) -> None:
    assert kernels(text) == []


@pytest.mark.parametrize(
    "call",
    [
        "compiled = triton.jit(kernel)",
        "compiled = wrapped(triton.jit(kernel))",
        "compiled = triton.autotune([], [])(triton.jit(kernel))",
        "def build():\n    return triton.jit(kernel)",
        *(
            call
            for call in (
                "compiled = triton.jit(kernel, debug=True)",
                "compiled = triton.jit(fn=kernel)",
                "compiled = triton.jit(\n    kernel\n)",
                "compiled = triton.jit(debug=True)(kernel)",
            )
        ),
    ],
)
def test_a_call_makes_a_kernel(call: str) -> None:
    assert kernels(f"{IMPORTS}{BODY}{call}\n") == ["kernel"]


def test_a_call_of_another_jit_makes_none() -> None:
    assert kernels(f"{IMPORTS}import numba\n{BODY}compiled = numba.jit(kernel)\n") == []


def test_kernels_are_found_wherever_they_stand_and_in_the_order_of_the_text() -> None:
    text = f"""\
{IMPORTS}
class Op:
    @staticmethod
    @triton.jit
    def method(x): tl.store(x, 1)

    class Inner:
        @triton.jit
        def deep(x): tl.store(x, 1)

def make():
    if flag:
        @triton.jit
        def nested(x): tl.store(x, 1)
    return nested

try:
    import fast
except ImportError:
    @triton.jit
    def fallback(x): tl.store(x, 1)
finally:
    @triton.jit
    def last(x): tl.store(x, 1)

if a:
    pass
elif b:
    @triton.jit
    def either(x): tl.store(x, 1)
else:
    @triton.jit
    def other(x): tl.store(x, 1)

for size in sizes:
    with context:
        @triton.jit
        def looped(x): tl.store(x, 1)
"""
    assert kernels(text) == [
        "Op.method", "Op.Inner.deep", "make.nested", "fallback", "last", "either", "other", "looped",
    ]  # fmt: skip


def test_kernels_in_the_cases_of_a_match_are_found() -> None:
    text = f"{IMPORTS}match backend:\n    case 'cuda':\n        @triton.jit\n        def kernel(x): tl.store(x, 1)\n"
    assert kernels(text) == ["kernel"]


def test_a_kernel_spans_its_decorators_and_its_body() -> None:
    (function,) = module(f"{IMPORTS}@triton.autotune(\n    [], []\n)\n@triton.jit\n{BODY}\nx = 1\n").jit
    assert (function.first_line, function.last_line) == (3, 8)
    assert len(function.decorators) == 2


def test_the_last_of_several_functions_of_one_name_counts() -> None:
    found = module(f"{IMPORTS}@triton.jit\ndef f(x): pass\n@triton.jit\ndef f(x, y): pass\n").function("f")
    assert found is not None
    assert [parameter.name for parameter in found.parameters] == ["x", "y"]


# -- parameters ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotation", "constexpr"),
    [
        (": tl.constexpr", True),
        (": constexpr", True),
        (": triton.language.constexpr", True),
        (": 'tl.constexpr'", True),
        (': "constexpr"', True),
        (": tl.constexpr = 64", True),
        (": tl.constexpr[int]", True),
        (": tl.core.constexpr", True),
        ("", False),
        (": int", False),
        (": tl.tensor", False),
        ("=64", False),
    ],
)
def test_constexpr_is_seen_in_every_form(annotation: str, constexpr: bool) -> None:
    (function,) = module(f"{IMPORTS}@triton.jit\ndef f(B{annotation}): pass\n").jit
    assert function.parameters[0].constexpr is constexpr


def test_parameters_keep_their_order_and_their_defaults() -> None:
    text = f"{IMPORTS}@triton.jit\ndef f(a, /, b, c=1, *, d, e: tl.constexpr = 2): 'What it does.'\n"
    (function,) = module(text).jit
    assert [(p.name, p.default is not None, p.constexpr) for p in function.parameters] == [
        ("a", False, False), ("b", False, False), ("c", True, False), ("d", False, False), ("e", True, True),
    ]  # fmt: skip
    assert function.docstring == "What it does."


# -- kernels in strings --------------------------------------------------------------------------------------------

TEMPLATE = "SOURCE = '''\n@triton.jit\ndef generated(x):\n    pass\n'''\n"


def test_kernels_in_strings_are_noted_with_their_line() -> None:
    assert module(IMPORTS + TEMPLATE).embedded == (3,)
    assert module(f"{IMPORTS}{TEMPLATE}@triton.jit\n{BODY}").embedded == (3,)


def test_kernels_in_parts_of_a_formatted_string_are_noted() -> None:
    assert module(IMPORTS + TEMPLATE.replace("'''", "f'''", 1)).embedded


def test_strings_that_only_speak_of_kernels_are_not() -> None:
    assert module(f"{IMPORTS}'''Decorate it with triton.jit.'''\n@triton.jit\n{BODY}").embedded == ()


def test_a_kernel_in_a_docstring_is_an_example() -> None:
    shown = "    '''Use it so:\n\n    @triton.jit\n    def kernel(x_ptr):\n        pass\n    '''\n"
    assert module(f"{IMPORTS}def wrapper(x):\n{shown}    return x\n").embedded == ()
    assert module(f"{IMPORTS}def wrapper(x):\n    template = {shown.lstrip()}    return template\n").embedded


# -- what cannot be parsed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line"),
    [("x = 1\ndef f(:\n", 2), ("x = (\n", 1), ("print 'x'\n", 1), ("if x:\npass\n", 2), ("x = '\n", 1)],
)
def test_what_python_cannot_parse_is_said_with_its_line(text: str, line: int) -> None:
    with pytest.raises(Unparsable) as caught:
        outline("m.py", text)
    assert caught.value.line == line
    assert caught.value.message


@pytest.mark.parametrize(
    "expression",
    ["(" * 5000 + "1" + ")" * 5000, "-" * 50_000 + "1", "[" * 150 + "]" * 150, " + ".join(["1"] * 20_000)],
    ids=["parentheses", "signs", "lists", "sum"],
)
def test_deep_nesting_is_said_or_borne(expression: str) -> None:
    try:
        found = kernels(f"{IMPORTS}x = {expression}\n@triton.jit\n{BODY}")
    except Unparsable:
        return
    assert found == ["kernel"]


def test_a_null_byte_is_unparsable() -> None:
    with pytest.raises(Unparsable):
        outline("m.py", "x = '\0'\n")


def test_columns_count_code_points() -> None:
    text = "größe, x = 'ä', f(\n    'ß', 1)\n"
    tree = outline("m.py", text).tree
    assign = tree.body[0]
    assert span_of(assign.value.elts[1], text.split("\n")) == Span(1, 17, 2, 12)  # type: ignore[attr-defined]
