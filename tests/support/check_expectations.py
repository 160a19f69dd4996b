"""What the samples of `fixtures/checks/samples` come to, by hand: ids and statuses."""

from __future__ import annotations

from hydra.checks.results import Status, Tests


def spread(**names: str) -> dict[str, Status]:
    """`passed="a, b"` and so on, as one mapping; ids are parted by lines."""
    statuses: tuple[Status, ...] = ("passed", "failed", "skipped")
    return {
        name.strip(): status
        for status in statuses
        for name in names.get(status, "").strip().split("\n")
        if name.strip()
    }


PYTEST = spread(
    passed="""
        tests/test_cart.py::test_adds
        tests/test_cart.py::test_refunds_by_luck
        tests/test_cart.py::test_price[one euro]
        tests/test_cart.py::test_price[10 \\u20ac]
        tests/test_cart.py::test_price[[x]]
        tests/test_cart.py::test_price[a::b]
        tests/test_cart.py::test_price[PASSED]
        tests/test_cart.py::TestTotal::test_sums
    """,
    failed="""
        tests/test_cart.py::test_removes
        tests/test_cart.py::test_price[a - b]
        tests/test_cart.py::TestTotal::test_rounds
        tests/test_cart.py::test_opens
        tests/test_cart.py::test_closes
    """,
    skipped="""
        tests/test_cart.py::test_pays
        tests/test_cart.py::test_refunds
    """,
)
UNCOLLECTED = spread(failed="tests/test_broken.py")

UNITTEST = spread(
    passed="""
        tests.test_cart.Cart.test_adds
        tests.test_cart.Cart.test_talks
    """,
    failed="""
        tests.test_cart.Cart.test_removes
        tests.test_cart.Cart.test_errs
        tests.test_cart.Cart.test_refunds_by_luck
        tests.test_cart.Cart.test_prices
        tests.test_cart.Till
    """,
    skipped="""
        tests.test_cart.Cart.test_pays
        tests.test_cart.Cart.test_refunds
    """,
)

TAPE = spread(passed="adds\nrefunds", failed="removes", skipped="pays")
NODE_TAP = {f"test/cart.js > {name}": status for name, status in TAPE.items()}
NODE_TEST = spread(
    passed="opens\ncart > adds", failed="closes\ncart > removes", skipped="pays\nrefunds"
)

CARGO_LIBRARY = spread(
    passed="shop src/lib.rs::tests::adds\nshop src/lib.rs::tests::refuses",
    failed="shop src/lib.rs::tests::removes",
    skipped="shop src/lib.rs::tests::pays",
)
CARGO = CARGO_LIBRARY | spread(
    passed="shop src/main.rs::opens\ntests/total.rs::sums\nshop doc::src/lib.rs - add",
    failed="tests/total.rs::rounds\nshop doc::src/lib.rs - add #2",
)
NEXTEST = spread(
    passed="""
        shop::tests::adds
        shop::tests::refuses
        shop::total::sums
        shop::bin/shop::opens
    """,
    failed="shop::tests::removes\nshop::total::rounds",
)

GO_CART = spread(
    passed="""
        example.com/shop/cart::TestAdds
        example.com/shop/cart::TestPrices/one_euro
        example.com/shop/cart::TestPrices//api/v1
        example.com/shop/cart::TestInParallel
        example.com/shop/cart::TestInParallel/a
        example.com/shop/cart::TestInParallel/b
        example.com/shop/cart::ExampleAdd
    """,
    failed="""
        example.com/shop/cart::TestRemoves
        example.com/shop/cart::TestPrices
        example.com/shop/cart::TestPrices/half_a_cent
    """,
    skipped="example.com/shop/cart::TestPays",
)
GO_TALKS = "example.com/shop/cart::TestTalks"
GO_OTHERS = spread(passed="example.com/shop/price::TestRounds", failed="example.com/shop/broken")

VITEST_CART = spread(
    passed="""
        src/cart.test.js::cart > adds
        src/cart.test.js::cart > total (in \u20ac) > sums 1
        src/cart.test.js::cart > total (in \u20ac) > takes 3 > 2 \u203a 1 (2 ms)
        src/cart.test.js::opens
    """,
    failed="""
        src/cart.test.js::cart > removes
        src/cart.test.js::cart > total (in \u20ac) > sums 2
    """,
    skipped="""
        src/cart.test.js::cart > pays
        src/cart.test.js::cart > refunds
    """,
)
PRICE = spread(passed="src/price.test.js::rounds\nsrc/price.test.js::adds")
BAD_SUITE = spread(failed="bad/broken.test.js")
JEST = {
    # jest parts the names itself by the sign that this title holds, and times look like its end.
    name.replace(" \u203a ", " > ").removesuffix(" (2 ms)"): status
    for name, status in (VITEST_CART | PRICE).items()
}
VITEST_TITLES = spread(
    passed="""
        src/parse.test.js::parse > reads 1.5s
        src/parse.test.js::parse > reads 2ms
        src/parse.test.js::parse > reads 10 ms
        src/parse.test.js::parse > reads 3s (4ms)
        src/parse.test.js::parse > reads 300ms
        src/parse.test.js::parse > takes 1.5s
        src/parse.test.js::parse > comes again in 5s
        src/parse.test.js::parses > 4s
    """,
    failed="src/parse.test.js::parse > fails in 2ms",
    skipped="""
        src/parse.test.js::parse > waits 5ms
        src/parse.test.js::parse > skips itself
    """,
)
JEST_JUNIT = spread(
    passed="""
        cart adds
        cart refunds
        cart total (in \u20ac) sums 1
        cart total (in \u20ac) takes 3 > 2 \u203a 1 (2 ms)
        opens
        rounds
        adds
    """,
    failed="""
        cart removes
        cart total (in \u20ac) sums 2
    """,
    skipped="cart pays",
)

CTEST = spread(passed="adds\none euro", failed="removes\nopens", skipped="pays")


def only(status: Status, names: dict[str, Status]) -> dict[str, Status]:
    """Those of `names` that have `status`."""
    return {name: text for name, text in names.items() if text == status}


def counts(tests: Tests | None) -> tuple[int, int, int]:
    """Passed, failed and skipped."""
    assert tests is not None
    return tests.passed, tests.failed, tests.skipped
