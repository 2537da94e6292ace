"""Integers as polynomials: what is equal however it is spelled, and how it is written."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tritonaudit.domains.affine import ONE, ZERO, Affine, AtomKind, Atoms

NAMES = ("a", "b", "c")
ATOMS = Atoms()
KNOWN = {name: ATOMS.get(AtomKind.PARAM, name) for name in NAMES}
Pair = tuple[Affine, Callable[[dict[str, int]], int]]


def leaf(value: int | str) -> Pair:
    if isinstance(value, int):
        return Affine.constant(value), lambda _: value
    return Affine.of(KNOWN[value]), lambda numbers: numbers[value]


def combined(operator: str, left: Pair, right: Pair) -> Pair:
    (a, f), (b, g) = left, right
    if operator == "+":
        return a + b, lambda numbers: f(numbers) + g(numbers)
    if operator == "-":
        return a - b, lambda numbers: f(numbers) - g(numbers)
    return a * b, lambda numbers: f(numbers) * g(numbers)


LEAVES = st.one_of(st.integers(-5, 5), st.sampled_from(NAMES)).map(leaf)
PAIRS = st.recursive(LEAVES, lambda inner: st.builds(combined, st.sampled_from("+-*"), inner, inner), max_leaves=8)
NUMBERS = st.fixed_dictionaries({name: st.integers(-50, 50) for name in NAMES})


def value(affine: Affine, numbers: dict[str, int]) -> int:
    total = 0
    for product, factor in affine.terms.items():
        for atom in product:
            factor *= numbers[atom.name]
        total += factor
    return total


@given(PAIRS, NUMBERS)
def test_a_polynomial_is_the_number_that_python_computes(pair: Pair, numbers: dict[str, int]) -> None:
    affine, compute = pair
    assert value(affine, numbers) == compute(numbers)


@given(PAIRS, PAIRS, PAIRS)
def test_the_spelling_changes_nothing(x: Pair, y: Pair, z: Pair) -> None:
    a, b, c = x[0], y[0], z[0]
    for one, other in (
        (a + b, b + a),
        (a * b, b * a),
        ((a + b) + c, a + (b + c)),
        ((a * b) * c, a * (b * c)),
        (a * (b + c), a * b + a * c),
        ((a - b) * c, c * a - b * c),
        (a - a, ZERO),
        (a * ONE, a),
        (-a, ZERO - a),
        (a + a, a * Affine.constant(2)),
    ):
        assert one == other
        assert hash(one) == hash(other)
        assert str(one) == str(other)


@given(PAIRS, PAIRS, st.lists(NUMBERS, min_size=4, max_size=8))
def test_equal_polynomials_are_equal_numbers_and_no_term_is_zero(
    x: Pair, y: Pair, several: list[dict[str, int]]
) -> None:
    if x[0] == y[0]:
        assert all(x[1](numbers) == y[1](numbers) for numbers in several)
    assert 0 not in (x[0] * y[0]).terms.values()
    assert 0 not in (x[0] - y[0]).terms.values()


@given(PAIRS, NUMBERS)
def test_what_is_printed_is_the_polynomial(pair: Pair, numbers: dict[str, int]) -> None:
    affine, _ = pair
    assert eval(str(affine), {}, numbers) == value(affine, numbers)


@given(PAIRS, PAIRS)
def test_how_far_one_is_above_another_is_known_where_their_difference_is_a_number(one: Pair, other: Pair) -> None:
    assert one[0].above(other[0]) == (one[0] - other[0]).value
    assert (one[0] + Affine.constant(3)).above(one[0]) == 3


@given(PAIRS)
def test_a_number_is_known_to_be_one(pair: Pair) -> None:
    affine, _ = pair
    assert (affine.value is None) == bool(set(affine.atoms()))
    if affine.value is not None:
        assert affine == Affine.constant(affine.value)


@given(PAIRS, st.sampled_from(NAMES))
def test_what_an_atom_is_multiplied_by_holds_the_terms_with_it_once(pair: Pair, name: str) -> None:
    affine, atom = pair[0], KNOWN[name]
    once = {product: factor for product, factor in affine.terms.items() if product.count(atom) == 1}
    assert affine.factor_of(atom) * Affine.of(atom) == Affine(once)


# -- printing ------------------------------------------------------------------------------------------------------


def test_a_polynomial_is_written_as_a_person_would() -> None:
    atoms = Atoms()
    pid, block = (
        Affine.of(atoms.get(AtomKind.PID, "tl.program_id(0)", 0)),
        Affine.of(atoms.get(AtomKind.CONSTEXPR, "BLOCK")),
    )
    lane = atoms.lane(block, ZERO, -1)
    n = Affine.of(atoms.get(AtomKind.PARAM, "n"))
    two = Affine.constant(2)
    assert str(pid * block + lane) == "tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)"
    assert str(n - two) == "n - 2"
    assert str(ZERO - n) == "-n"
    assert str(two * n * n - block) == "2 * n * n - BLOCK"
    assert str(ZERO) == "0"
    assert str(Affine.constant(-3)) == "-3"


def test_an_operation_is_written_with_what_it_is_of() -> None:
    atoms = Atoms()
    n, block = Affine.of(atoms.get(AtomKind.PARAM, "n")), Affine.of(atoms.get(AtomKind.CONSTEXPR, "BLOCK"))
    assert str(atoms.opaque("FloorDivide", "FloorDivide", (n, block))) == "(n // BLOCK)"
    assert str(atoms.opaque("cdiv", "cdiv", (n + ONE, block))) == "cdiv(n + 1, BLOCK)"
    assert str(atoms.opaque("a loaded value", 1, (n,))) == "a loaded value"


def test_a_loop_variable_is_written_for_its_multiple() -> None:
    atoms = Atoms()
    block = Affine.of(atoms.get(AtomKind.CONSTEXPR, "BLOCK"))
    loop = Affine.of(atoms.get(AtomKind.LOOP, "k", 1, start=ZERO, step=block))
    assert str(loop * block) == "k"


# -- atoms ---------------------------------------------------------------------------------------------------------


def test_equal_descriptions_give_the_same_atom() -> None:
    atoms = Atoms()
    n, m = (Affine.of(atoms.get(AtomKind.PARAM, name)) for name in ("n", "m"))
    assert atoms.get(AtomKind.PARAM, "n") is atoms.get(AtomKind.PARAM, "n")
    assert atoms.lane(n, ZERO, -1) == atoms.lane(n, ZERO, -1)
    assert atoms.lane(n, ZERO, -1) != atoms.lane(n, ZERO, -2)
    assert atoms.lane(n, ZERO, -1) != atoms.lane(m, ZERO, -1)
    assert atoms.opaque("cdiv", "cdiv", (n, m)) == atoms.opaque("cdiv", "cdiv", (n, m))
    assert atoms.opaque("cdiv", "cdiv", (n, m)) != atoms.opaque("cdiv", "cdiv", (m, n))


def test_a_single_lane_is_a_number() -> None:
    atoms = Atoms()
    assert atoms.lane(ONE, ZERO, -1) == ZERO


def test_moving_the_axes_there_and_back_changes_nothing() -> None:
    atoms = Atoms()
    n = Affine.of(atoms.get(AtomKind.PARAM, "n"))
    lane = atoms.lane(n, ZERO, -1)
    loaded = atoms.opaque("a loaded value", 1, (lane,), frozenset((-1,)))
    index = n * lane + n
    assert atoms.moved(index, {-1: -2}) == n * atoms.lane(n, ZERO, -2) + n
    assert atoms.moved(atoms.moved(index, {-1: -2}), {-2: -1}) == index
    assert atoms.moved(n, {-1: -2}) == n
    assert atoms.moved(loaded, {-1: -2}) != loaded
    assert atoms.moved(loaded, {-1: -2}) == atoms.moved(loaded, {-1: -2})
    assert atoms.moved(loaded, {-1: -2}).axes() == frozenset((-2,))


def test_a_product_that_is_too_large_is_not_kept() -> None:
    atoms = Atoms()
    total = ZERO
    for index in range(9):
        total = total + Affine.of(atoms.get(AtomKind.PARAM, f"p{index}"))
    assert atoms.product(total, ONE) == total
    assert atoms.product(total, total) is None


def test_what_many_ways_lead_to_is_met_once() -> None:
    atoms = Atoms()
    first = value = Affine.of(atoms.get(AtomKind.PARAM, "p"))
    for index in range(200):  # each is computed from the one before in two ways
        value = Affine.of(atoms.get(AtomKind.OPAQUE, f"v{index}", inner=(value, value + ONE)))
    assert len(value.atoms_inside()) == 201
    assert set(first.atoms()) < value.atoms_inside()
