"""Files that nobody would write: kernels cut, spliced, overgrown and misencoded, the same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from tritonaudit.source.decode import Undecodable, decode
from tritonaudit.source.outline import Unparsable, outline

_KERNEL = b"""\
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    tl.store(x_ptr + offsets, x)


def launch(x, n):
    kernel[(triton.cdiv(n, 64),)](x, n, BLOCK=64)
"""

_DEPTHS = (60, 95, 150, 400, 1_200, 3_500, 8_000, 30_000)
_MEGABYTE = 1_000_000

_NESTED: dict[str, Callable[[int], str]] = {
    "parentheses": lambda depth: "y = " + "(" * depth + "n" + ")" * depth,
    "lists": lambda depth: "y = " + "[" * depth + "n" + "]" * depth,
    "nested calls": lambda depth: "y = " + "tl.exp(" * depth + "n" + ")" * depth,
    "unary": lambda depth: "y = " + "-" * depth + "n",
    "not": lambda depth: "y = " + "not " * depth + "n",
    "binary": lambda depth: "y = n" + " + n" * depth,
    "power": lambda depth: "y = n" + "**n" * depth,
    "boolean": lambda depth: "y = n" + " and n" * depth,
    "mixed boolean": lambda depth: "y = n" + " and n or n" * depth,
    "comparison": lambda depth: "y = n" + " < n" * depth,
    "attribute": lambda depth: "y = n" + ".a" * depth,
    "call": lambda depth: "y = n" + "()" * depth,
    "subscript": lambda depth: "y = n" + "[0]" * depth,
    "conditional": lambda depth: "y = " + "n if n else " * depth + "n",
    "lambda": lambda depth: "y = " + "lambda: " * depth + "n",
    "strings": lambda depth: "y = 'a'" + " 'a'" * depth,
    "f-strings": lambda depth: "y = f'{n}'" + " f'{n}'" * depth,
    "load": lambda depth: "y = tl.load(x_ptr" + " + n" * depth + ")",
    "walrus": lambda depth: "y = " + "(a := " * depth + "n" + ")" * depth,
    "targets": lambda depth: "y = " * depth + "n",
    "statements": lambda depth: "; ".join(["y = n + 1"] * min(depth, 3_500)),
    "elif": lambda depth: "if n:\n    y = 0" + "".join(f"\nelif n == {i}:\n    y = {i}" for i in range(depth)),
    "if": lambda depth: _indented("if n > {}:", depth),
    "for": lambda depth: _indented("for i{} in range(n):", min(depth, 19)),
    "while": lambda depth: _indented("while n > {}:", depth),
    "with": lambda depth: _indented("with n:", min(depth, 19)),
    "def": lambda depth: _indented("def f{}():", depth),
    "squares": lambda depth: "a = n\nb = n + 1\n" + "\n".join(["a = a * (a + b)", "b = b * (a - b)"] * min(depth, 400)),
    "doubles": lambda depth: "a = n\n" + "\n".join(["a = a + a"] * min(depth, 3_500)),
    "tuples": lambda depth: "a = (n, n)\n" + "\n".join(["a = (a, a)"] * min(depth, 3_500)) + "\nif n:\n    a = (a, a)",
    "branches": lambda depth: "\n".join(f"if n > {i}:\n    n = n + {i}" for i in range(min(depth, 3_500))),
    "loops": lambda depth: "\n".join(f"for i in range(n):\n    n += {i} * n" for i in range(min(depth, 400))),
}
"""Statements of a kernel that grow with a number."""

_TOP_LEVEL: dict[str, Callable[[int], str]] = {
    "sum outside": lambda depth: "X = 0" + " + 1" * depth,
    "elif outside": lambda depth: "if X:\n    pass\n" + "".join(f"elif X == {i}:\n    pass\n" for i in range(depth)),
    "annotation": lambda depth: "@triton.jit\ndef overgrown(x: 0" + " + 1" * depth + "):\n    return x",
    "default": lambda depth: "@triton.jit\ndef overgrown(x=0" + " + 1" * depth + "):\n    return x",
    "decorator": lambda depth: "@triton" + ".a" * depth + "\n@triton.jit\ndef overgrown(x):\n    return x",
    "grid": lambda depth: "def overgrown(x, n):\n    kernel[(triton.cdiv(n" + " + n" * depth + ", 8),)](x, n, BLOCK=8)",
    "argument": lambda depth: "def overgrown(x, n):\n    kernel[(1,)](x, n, BLOCK=0" + " + n" * depth + ")",
    "alias": lambda depth: "import triton" + ".a" * depth + " as t",
    "parameters": lambda depth: f"@triton.jit\ndef overgrown({', '.join(f'p{i}' for i in range(depth))}):\n    pass",
}
"""Statements beside a kernel that grow with a number."""

_EXPRESSIONS = (
    *("10**10**10", "2**2**100", "1 << 10**10", "10**-10**10", "1 << -1", "1 >> -1", "1 // 0", "1 % 0", "1.0 // 0"),
    *("0**-1", "(-1)**0.5", "1e400", "1e400 // 1", "int(1e400)", "float('x')", "int('x')", "1 << 1.5", "1 < 'a'"),
    *("'a' * 10**10", "[0] * 10**10", "~'a'", "-'a'", "1j", "b'a'", "...", "min()", "max(1, 'a')", "range()", "len(n)"),
    *("0x" + "f" * 5_000, "9" * 4_000, "9" * 5_000, "tl.arange(0, 10**100)", "tl.arange(0, 0x" + "f" * 5_000 + ")"),
    *("tl.arange(0, -1)", "tl.arange()", "tl.load()", "tl.store()", "tl.dot()", "tl.sum()", "tl.exp()", "tl.where()"),
    *("tl.sum(n, axis=99)", "tl.max(n, axis='x')", "tl.program_id(10**10)", "tl.zeros((10**10,) * 10, tl.float32)"),
    *("tl.zeros([], tl.float32)", "n[None, :, ..., 1:2:3, *n]", "n[::0]", "(n, n)[10**100]", "(n, n)[-5]", "[*n]"),
    *("(yield)", "{**n}", "f'{n!r:{n}}'", "tl.static_range(0, 10**10, 0)", "tl.reshape(n, (0, -1))", "tl.cdiv(1, 0)"),
    *("tl.load(*n, **n)", "tl.make_block_ptr()", "tl.full()", "n.to()", "n.to(1, 2, 3)", "tl.reduce()", "tl.split()"),
    *("kernel(kernel)", "kernel()", "tl.trans(n, 9, 9)", "tl.expand_dims(n, 99)", "tl.broadcast_to(n, n)", "n.a.b()()"),
)

_COOKIES = (
    *("latin-1", "utf-8", "ascii", "utf-16", "utf-7", "unicode_escape", "raw_unicode_escape", "punycode", "idna"),
    *("rot13", "hex", "undefined", "no-such-codec", "cp1252", "shift_jis", "utf-8-sig", "base64", "\x1b[31m"),
)


@dataclass(frozen=True)
class Mutant:
    """One file; `kind` says what was done to it."""

    kind: str
    data: bytes


def mutants(sources: Sequence[bytes], count: int, seed: int) -> list[Mutant]:
    """As many mutants of the sources, every kind of them in turn."""
    rng = random.Random(seed)
    kinds = list(_kinds(sources or [_KERNEL]))
    return [Mutant(kind, make(rng)) for kind, make in (kinds[i % len(kinds)] for i in range(count))]


def _kinds(sources: Sequence[bytes]) -> Iterator[tuple[str, Callable[[random.Random], bytes]]]:
    def source(rng: random.Random) -> bytes:
        return rng.choice(sources)

    yield "cut", lambda rng: _cut(source(rng), rng)
    yield "spliced", lambda rng: _cut(source(rng), rng) + source(rng)[rng.randrange(200) :]
    yield "inserted", lambda rng: _inserted(source(rng), rng)
    yield "flipped", lambda rng: _flipped(source(rng), rng)
    yield "lines lost", lambda rng: _lines_lost(source(rng), rng)
    for kind, encode in _ENCODED.items():
        yield kind, lambda rng, encode=encode: encode(source(rng))  # type: ignore[misc]
    for cookie in _COOKIES:
        yield f"cookie {cookie}", lambda rng, cookie=cookie: _cookie(source(rng), cookie, rng)  # type: ignore[misc]
    for kind, grow in _NESTED.items():
        yield kind, lambda rng, grow=grow: _in_kernel(source(rng), grow(rng.choice(_DEPTHS)), rng)  # type: ignore[misc]
    for kind, grow in _TOP_LEVEL.items():
        yield kind, lambda rng, grow=grow: _after(_KERNEL, grow(rng.choice(_DEPTHS)))  # type: ignore[misc]
    for number in range(0, len(_EXPRESSIONS), 10):
        some = _EXPRESSIONS[number : number + 10]
        yield f"expressions {number}", lambda rng, some=some: _hostile(source(rng), some, rng)  # type: ignore[misc]


_ENCODED: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "byte order mark twice": lambda data: b"\xef\xbb\xbf\xef\xbb\xbf" + data,
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "cr": lambda data: data.replace(b"\n", b"\r"),
    "mixed line ends": lambda data: data.replace(b"\n\n", b"\r\n\r").replace(b",\n", b",\r"),
    "form feeds": lambda data: data.replace(b"\n\n", b"\n\x0c\n").replace(b"    ", b"\x0c    ", 5),
    "tabs": lambda data: data.replace(b"    ", b"\t"),
    "other line ends": lambda data: data.replace(b"# ", "# \x0b\x1c\x85\u2028\u2029".encode()),
    "null": lambda data: data.replace(b"tl.load", b"tl.\0load", 1) + b"\0",
    "utf-16": lambda data: data.decode("utf-8", "replace").encode("utf-16"),
    "utf-16 without a mark": lambda data: data.decode("utf-8", "replace").encode("utf-16-le"),
    "utf-32": lambda data: data.decode("utf-8", "replace").encode("utf-32"),
    "latin-1": lambda data: data + b"\n# \xe9\xff\n",
    "surrogate": lambda data: data + b"\n# \xed\xa0\x80\n",
    "continued": lambda data: data.rstrip() + b"\\",
    "no last line end": lambda data: data.rstrip(),
    "open string": lambda data: data + b"\n'''",
    "long line inside": lambda data: _long_line(data, inside=True),
    "long line outside": lambda data: _long_line(data, inside=False),
    "long sum inside": lambda data: _in_kernel(data, "y = [" + "n, " * (_MEGABYTE // 3) + "]", random.Random(0)),
    "long comment": lambda data: data + b"\n#" + b"\xc3\xa9" * (_MEGABYTE // 2) + b"\n",
    "escapes": lambda data: _in_kernel(data, "y = '\x1b[31m\x07' + tl.load(x_ptr + 1)", random.Random(0)),
    "wide": lambda data: _in_kernel(data, "y = '\u202e\U0001f600幅e\u0301'; z = tl.load(x_ptr + 1)", random.Random(0)),
    "suppressions": lambda data: data.replace(b"tl.load(", b"tl.load(  # tritonaudit: ignore[TAM101,,]] [x\n", 3),
    "kernel in a string": lambda data: data + b"\nX = '''" + _KERNEL.replace(b"'", b'"') + b"'''\n",
}


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _inserted(data: bytes, rng: random.Random) -> bytes:
    for _ in range(rng.randint(1, 20)):
        place = rng.randrange(len(data) + 1)
        data = data[:place] + rng.randbytes(rng.randint(1, 4)) + data[place:]
    return data


def _flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data or b" ")
    for _ in range(rng.randint(1, 8)):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(7)
    return bytes(changed)


def _lines_lost(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    for _ in range(rng.randint(1, 5)):
        lost = lines.pop(rng.randrange(len(lines)))
        lines.insert(rng.randrange(len(lines) + 1), rng.choice([b"", lost.strip(), lost * 2]))
    return b"\n".join(lines)


def _cookie(data: bytes, cookie: str, rng: random.Random) -> bytes:
    line = f"# -*- coding: {cookie} -*-\n".encode()
    kind = rng.randrange(3)
    if kind == 0:
        return line + data + b"# \xe9 \\x00 \\ud800 \\r +AA0- \\N{BEL}\n"
    try:
        text = data.decode("utf-8", "replace").encode(cookie, "replace")
    except (LookupError, UnicodeError, TypeError):
        text = data
    return line + text if kind == 1 else line + text + b"\n# \xe9\n"


def _long_line(data: bytes, *, inside: bool) -> bytes:
    text = "y = '" + "a" * _MEGABYTE + "'"
    return _in_kernel(data, text + "; z = tl.load(x_ptr + 1)", random.Random(0)) if inside else _after(data, text)


def _hostile(data: bytes, expressions: Sequence[str], rng: random.Random) -> bytes:
    lines = [f"h{i} = {expression}\ntl.load(x_ptr + h{i})" for i, expression in enumerate(expressions)]
    lines += [f"for j{i} in range({expression}):\n    n += {expression}" for i, expression in enumerate(expressions)]
    return _in_kernel(data, "\n".join(rng.sample(lines, len(lines))), rng)


def _after(data: bytes, statement: str) -> bytes:
    return data + b"\n" + statement.encode() + b"\n"


def _in_kernel(data: bytes, statement: str, rng: random.Random) -> bytes:
    """The source with a statement, which may have several lines, in front of the body of one of its kernels."""
    try:
        module = outline("mutant.py", decode(data))
    except (Undecodable, Unparsable):
        module = outline("mutant.py", decode(_KERNEL))
    found = [function for function in module.jit if function.node.body[-1].lineno > function.node.lineno]
    if not found:
        return _in_kernel(_KERNEL, statement, rng)
    last = rng.choice(found).node.body[-1]
    line, column = last.lineno, last.col_offset
    grown = [" " * column + text for text in statement.split("\n")]
    return "\n".join([*module.lines[: line - 1], *grown, *module.lines[line - 1 :]]).encode()


def _indented(header: str, depth: int) -> str:
    depth = min(depth, 150)  # Python itself takes 100
    lines = [" " * level + header.format(level) for level in range(depth)]
    return "\n".join([*lines, " " * depth + "y = tl.load(x_ptr + n)"])
