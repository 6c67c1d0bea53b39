"""Names from graphs and files: legible, on one line, and not too long."""

import pytest

from skgraphkde.graphs.naming import category_text, legible, listed, printable, shown


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Å 3 = 4", "Å 3 = 4"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[2J\x9b\0", r"\x1b[2J\x9b\x00"),
        ("\ud800\udcff", r"\ud800\udcff"),
        ("\u202efdp.exe\u2028", r"\u202efdp.exe\u2028"),
    ],
)
def test_printable(text, expected):
    assert printable(text) == shown(text) == expected
    assert expected.isprintable()


@pytest.mark.parametrize(
    "value",
    [
        *("x, kind=B", "A -> B", "A - B", "A -x- B", "no kind", "not ring"),
        *("A (in 3 of 60 other graphs)", "a=b", " A", "A\n", " ", ""),
    ],
)
def test_a_value_that_reads_as_several_is_quoted(value):
    assert legible(value) == f"'{value}'"
    assert category_text("kind", value) == f"kind='{value}'"
    for plain in (
        "Create PO",
        "org:resource",
        "http://a.b/c?d",
        "N+",
        "a,b",
        "f(x)",
        "a->b",
        "a-b",
        "north",
        -0.5,
    ):
        assert legible(plain) == str(plain)


def test_long_names_are_cut():
    for name, text in (
        ("x" * 100, "x" * 100),
        ("x" * 10**6, "x" * 100 + "..."),
        (("C", 1), "('C', 1)"),
    ):
        assert shown(name) == text
    assert len(shown("\n" * 10**6)) == 103
    assert listed(["a", 2]) == "a, 2"
    many = listed(["x\n" * 10**5] * 1000)
    assert many.endswith(", and 995 more")
    assert len(many) < 600
