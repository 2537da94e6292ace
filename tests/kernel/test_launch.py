"""What the host code of a file says about the kernel that it launches."""

from __future__ import annotations

import ast

import pytest

from tests.queries.kernels import flows
from tritonaudit.kernel.launch import LaunchFacts, Origin, launches_of
from tritonaudit.source.outline import outline

KERNEL = """\
{decorators}@triton.jit
def kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr{default}):
    tl.store(y_ptr, 1)


"""


def facts(host: str, decorators: str = "", default: str = "") -> LaunchFacts:
    (kernel,) = flows(KERNEL.format(decorators=decorators, default=default) + host)
    return kernel.launches


def wrapper(*lines: str) -> str:
    return "def run(x, y, n):\n" + "".join(f"    {line}\n" for line in lines)


def test_the_last_function_of_a_name_is_the_grid() -> None:
    host = wrapper(
        "def grid(meta): return (triton.cdiv(n, 32), n)",
        "kernel[grid](x, y, n, 32)",
        "def grid(meta): return (triton.cdiv(n, 64),)",
        "kernel[grid](x, y, n, 64)",
    )
    assert [[ast.unparse(axis) for axis in launch.axes] for launch in facts(host).launches] == [
        ["triton.cdiv(n, 32)", "n"],
        ["triton.cdiv(n, 64)"],
    ]


# -- names that are set again ---------------------------------------------------------------------------------------


def test_a_name_in_a_definition_is_what_it_was_there() -> None:
    lines = ["tiles = n + 1", "rest = tiles * 2", "tiles = rest + 3", "kernel[(tiles, rest)](x, y, n, 64)"]
    (launch,) = facts(wrapper(*lines)).launches
    last = launch.definition(launch.axes[0])
    assert ast.unparse(last) == "rest + 3"
    assert isinstance(last, ast.BinOp)
    before = launch.definition(last.left)
    assert ast.unparse(before) == "tiles * 2"
    assert isinstance(before, ast.BinOp)
    assert launch.definition(before.left) is before.left
    assert [ast.unparse(value) for value in launch.definitions(before.left)] == ["tiles"]


# -- which kernel is launched --------------------------------------------------------------------------------------


INNER = """\
def test_one(x):
    @triton.jit
    def kernel(x_ptr, ONE: tl.constexpr):
        tl.store(x_ptr, 1)

    kernel[(1,)](x, 1)


def test_two(x, y):
    @triton.jit
    def helper(value):
        return value + 2

    @triton.jit
    def kernel(x_ptr, y_ptr):
        tl.store(x_ptr, helper(1))

    kernel[(2,)](x, y)

    @triton.jit
    def kernel(y_ptr):
        tl.store(y_ptr, 2)

    kernel[(3,)](y)


def test_three(x, kernel):
    kernel[(4,)](x)
"""


def launched(text: str) -> list[tuple[str, list[str]]]:
    """The grids that each jit function of the file is launched with."""
    module = outline("kernels.py", "import triton\nimport triton.language as tl\n\n\n" + text)
    launches = launches_of(module)
    return [
        (jit.qualname, [ast.unparse(launch.grid) for launch in launches.get(jit, ())])
        for jit in module.jit
        if jit.name == "kernel"
    ]


def test_a_kernel_in_a_function_is_launched_by_that_function() -> None:
    assert launched(INNER) == [
        ("test_one.kernel", ["(1,)"]),
        ("test_two.kernel", ["(2,)"]),
        ("test_two.kernel", ["(3,)"]),
    ]


def test_a_kernel_in_a_function_hides_the_one_of_the_file() -> None:
    found = launched(KERNEL.format(decorators="", default="") + INNER + "\n\ndef run(x):\n    kernel[(5,)](x)\n")
    assert [grids for _, grids in found] == [["(5,)"], ["(1,)"], ["(2,)"], ["(3,)"]]


def test_a_kernel_in_a_class_is_no_name_of_its_methods() -> None:
    text = "class Op:\n    @triton.jit\n    def kernel(x_ptr):\n        pass\n\n"
    assert launched(text + "    def run(self, x):\n        kernel[(1,)](x)\n") == [("Op.kernel", [])]


# -- where launches are --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host",
    [
        "kernel[(1,)](x, y, n, 64)\n",
        wrapper("kernel[(1,)](x, y, n, 64)"),
        wrapper("return kernel[(1,)](x, y, n, BLOCK=64)"),
        wrapper("if n:", "    kernel[(1,)](x, y, n, 64)"),
        wrapper("with device(x):", "    compiled = kernel[(1,)](x, y, n, 64)"),
        wrapper("def inner():", "    kernel[(1,)](x, y, n, 64)", "inner()"),
        wrapper("bench(lambda: kernel[(1,)](x, y, n, 64))"),
        wrapper("wrap_triton(kernel)[(1,)](x, y, n, 64)"),
        wrapper("torch.library.wrap_triton(kernel)[(1,)](x, y, n, 64)"),
        wrapper("kernel[(1,)](", "    x,", "    y, n,", "    BLOCK=64,", ")"),
        "class Op(Function):\n    @staticmethod\n    def forward(ctx, x, y, n):\n        kernel[(1,)](x, y, n, 64)\n",
    ],
)
def test_a_launch_is_found(host: str) -> None:
    (launch,) = facts(host).launches
    assert ast.unparse(launch.grid) in ("(1,)", "1,")


@pytest.mark.parametrize(
    "host",
    [
        wrapper("chosen = kernel if n else other", "chosen[(1,)](x, y, n, 64)"),
        wrapper("chosen = other", "if n:", "    chosen = kernel", "chosen[(1,)](x, y, n, 64)"),
        wrapper("chosen = kernel", "chosen[(1,)](x, y, n, BLOCK=64)"),
        wrapper("chosen = kernel", "wrap_triton(chosen)[(1,)](x, y, n, BLOCK=64)"),
    ],
)
def test_so_is_one_by_a_name_that_the_wrapper_gives_the_kernel(host: str) -> None:
    (launch,) = facts(host).launches
    assert ast.unparse(launch.arguments["BLOCK"]) == "64"


@pytest.mark.parametrize(
    "host",
    [
        wrapper("chosen = other", "chosen[(1,)](x, y, n, 64)"),
        wrapper("chosen = kernel", "chosen = other", "chosen[(1,)](x, y, n, 64)"),
        wrapper("chosen = make(kernel)", "chosen[(1,)](x, y, n, 64)"),
        "def run(x, y, n, chosen):\n    chosen[(1,)](x, y, n, 64)\n",
        wrapper("kernel.fn[(1,)](x, y, n, 64)"),
        "def run(x, y, n, kernel):\n    kernel[(1,)](x, y, n, 64)\n",
        wrapper("kernel = patched(kernel, {})", "kernel[(1,)](x, y, n, 64)"),
        "def run(kernel):\n    def inner(x, y, n):\n        kernel[(1,)](x, y, n, 64)\n    return inner\n",
    ],
)
def test_a_name_for_something_else_launches_nothing(host: str) -> None:
    assert facts(host).launches == ()


@pytest.mark.parametrize(
    "host",
    [
        wrapper("kernel(x, y, n, 64)"),
        wrapper("other[(1,)](x, y, n, 64)"),
        wrapper("kernel[(1,)]"),
        wrapper("module.kernel[(1,)](x, y, n, 64)"),
        "'''kernel[(1,)](x, y, n, 64)'''\n",
        "",
    ],
)
def test_what_is_no_launch_of_it_is_not(host: str) -> None:
    assert facts(host).launches == ()


def test_launches_stand_in_the_order_of_the_text_with_their_wrapper() -> None:
    host = wrapper("kernel[(2,)](x, y, n, 64)", "kernel[(3,)](x, y, n, 64)") + "kernel[(4,)](x, y, n, 64)\n"
    launches = facts(host).launches
    assert [ast.literal_eval(launch.grid) for launch in launches] == [(2,), (3,), (4,)]
    assert [launch.wrapper.name if launch.wrapper else None for launch in launches] == ["run", "run", None]


def test_of_nested_functions_the_outermost_is_the_wrapper() -> None:
    host = wrapper("size = 64", "def inner():", "    kernel[(1,)](x, y, n, size)", "inner()")
    found = facts(host)
    assert [launch.wrapper.name for launch in found.launches if launch.wrapper] == ["run"]
    assert [size.value for size in found.sizes("BLOCK")] == [64]


# -- arguments -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("x, y, n, 64", {"x_ptr": "x", "y_ptr": "y", "n": "n", "BLOCK": "64"}),
        ("x, y, n, BLOCK=64", {"x_ptr": "x", "y_ptr": "y", "n": "n", "BLOCK": "64"}),
        ("x_ptr=x, BLOCK=64, n=n, y_ptr=y", {"x_ptr": "x", "y_ptr": "y", "n": "n", "BLOCK": "64"}),
        ("x, y, n, BLOCK=64, num_warps=4", {"x_ptr": "x", "y_ptr": "y", "n": "n", "BLOCK": "64", "num_warps": "4"}),
        ("x, *rest, BLOCK=64", {"x_ptr": "x", "BLOCK": "64"}),
        ("x, y, n, **meta", {"x_ptr": "x", "y_ptr": "y", "n": "n"}),
        ("", {}),
    ],
)
def test_arguments_go_to_their_parameters(call: str, arguments: dict[str, str]) -> None:
    (launch,) = facts(wrapper(f"kernel[(1,)]({call})")).launches
    assert {name: ast.unparse(node) for name, node in launch.arguments.items()} == arguments


# -- grids ---------------------------------------------------------------------------------------------------------


# -- sizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "origin", "value"),
    [
        (["kernel[(1,)](x, y, n, 96)"], Origin.NUMBER, 96),
        (["kernel[(1,)](x, y, n, BLOCK=96)"], Origin.NUMBER, 96),
        (["BLOCK = 96", "kernel[(1,)](x, y, n, BLOCK)"], Origin.NUMBER, 96),
        (["size = 96", "block = size", "kernel[(1,)](x, y, n, BLOCK=block)"], Origin.NUMBER, 96),
        (["a, block = 1, 96", "kernel[(1,)](x, y, n, BLOCK=block)"], Origin.NUMBER, 96),
        (["block = 64", "block = 96", "kernel[(1,)](x, y, n, BLOCK=block)"], Origin.NUMBER, 96),
        (["block = 96", "kernel[(1,)](x, y, n, BLOCK=block)", "block = 64"], Origin.NUMBER, 96),
        (["block = 64", "with device(x):", "    block = 96", "kernel[(1,)](x, y, n, block)"], Origin.NUMBER, 96),
        (["if n:", "    block = 96", "    kernel[(1,)](x, y, n, block)", "else:", "    block = 64"], Origin.NUMBER, 96),
        pytest.param(
            ["block = 96", "for block in blocks:", "    kernel[(1,)](x, y, n, block)"],
            Origin.UNKNOWN,
            None,
        ),
        (["kernel[(1,)](x, y, n, triton.next_power_of_2(n))"], Origin.POWER_OF_2, None),
        (["block = next_power_of_2(n)", "kernel[(1,)](x, y, n, block)"], Origin.POWER_OF_2, None),
        (["kernel[(1,)](x, y, n, min(64, triton.next_power_of_2(n)))"], Origin.POWER_OF_2, None),
        (["kernel[(1,)](x, y, n, 1 << k)"], Origin.POWER_OF_2, None),
        (["kernel[(1,)](x, y, n, 2 ** k)"], Origin.POWER_OF_2, None),
        (["kernel[(1,)](x, y, n, min(96, triton.next_power_of_2(n)))"], Origin.UNKNOWN, None),
        (["kernel[(1,)](x, y, n, x.shape[0])"], Origin.SIZE, None),
        (["kernel[(1,)](x, y, n, x.shape[-1])"], Origin.LAST_SIZE, None),
        (["kernel[(1,)](x, y, n, x.shape[1])"], Origin.LAST_SIZE, None),
        (["kernel[(1,)](x, y, n, x.shape[i])"], Origin.LAST_SIZE, None),
        (["kernel[(1,)](x, y, n, x.size(0))"], Origin.SIZE, None),
        (["kernel[(1,)](x, y, n, x.size(-1))"], Origin.LAST_SIZE, None),
        (["b, h, d = x.shape", "kernel[(1,)](x, y, n, BLOCK=d)"], Origin.LAST_SIZE, None),
        (["b, h, d = x.shape", "kernel[(1,)](x, y, n, BLOCK=h)"], Origin.SIZE, None),
        (["kernel[(1,)](x, y, n, choose(n))"], Origin.UNKNOWN, None),
        (["kernel[(1,)](x, y, n, True)"], Origin.UNKNOWN, None),
    ],
)
def test_where_a_size_comes_from(lines: list[str], origin: Origin, value: int | None) -> None:
    (size,) = facts(wrapper(*lines)).sizes("BLOCK")
    assert (size.origin, size.value) == (origin, value)


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        (["kernel[(1,)](x, y, n, 64)", "kernel[(1,)](x, y, n, 96)"], [64, 96]),
        (["kernel[(1,)](x, y, n, 64 if n > 9 else 96)"], [64, 96]),
        (["block = 64 if n > 9 else 96", "kernel[(1,)](x, y, n, block)"], [64, 96]),
        (["block = 64", "if n > 9:", "    block = 96", "kernel[(1,)](x, y, n, block)"], [64, 96]),
        (["if n:", "    block = 64", "else:", "    block = 96", "kernel[(1,)](x, y, n, block)"], [64, 96]),
        pytest.param(
            ["block = 64", "while n:", "    kernel[(1,)](x, y, n, block)", "    block = 96"],
            [64, 96],
        ),
        (["try:", "    block = 64", "except E:", "    block = 96", "kernel[(1,)](x, y, n, block)"], [64, 96]),
        (["kernel[(1,)](x, y, n)"], []),
    ],
)
def test_a_parameter_has_every_size_that_may_be_passed(lines: list[str], values: list[int]) -> None:
    assert {size.value for size in facts(wrapper(*lines)).sizes("BLOCK")} - {None} == set(values)


def test_a_default_counts_only_where_nothing_is_passed() -> None:
    assert [size.value for size in facts(wrapper("kernel[(1,)](x, y, n)"), default=" = 96").sizes("BLOCK")] == [96]
    assert [size.value for size in facts(wrapper("kernel[(1,)](x, y, n, 64)"), default=" = 96").sizes("BLOCK")] == [64]


# -- autotuning ----------------------------------------------------------------------------------------------------

TUNED = """\
@triton.autotune(
    configs=[
        triton.Config({"BLOCK": 64}, num_warps=4),
        triton.Config({"BLOCK": 96, "OTHER": 2}),
        triton.Config(chosen),
    ],
    key=["n"],
)
"""


def test_the_constants_of_literal_configs_are_known() -> None:
    found = facts(wrapper("kernel[(1,)](x, y, n)"), TUNED)
    assert [{name: size.value for name, size in sizes.items()} for sizes, _ in found.configs] == [
        {"BLOCK": 64},
        {"BLOCK": 96, "OTHER": 2},
    ]
    assert [size.value for size in found.sizes("BLOCK")] == [64, 96]
    assert [node.lineno for _, node in found.configs] == [8, 9]


def test_configs_of_a_comprehension_are_known_as_far_as_they_are_literal() -> None:
    tuned = "@triton.autotune([triton.Config({'BLOCK': b, 'K': 32}) for b in (64, 96)], key=[])\n"
    ((sizes, _),) = facts("", tuned).configs
    assert (sizes["BLOCK"].origin, sizes["K"].value) == (Origin.UNKNOWN, 32)


def test_tuned_names_are_those_that_a_decorator_sets() -> None:
    heuristics = "@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})\n"
    assert facts("", TUNED + heuristics).tuned == {"BLOCK", "OTHER", "EVEN"}
