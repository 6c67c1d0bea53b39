"""The codec, the registry and the state: only what is known comes back, each item checked."""

import json
import math
from enum import IntEnum
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from skgraphkde.persistence import State, decode, encode, register
from skgraphkde.persistence.registry import _classes, is_registered, registered_class


class Point:
    def __init__(self, x, extra=None):
        self.x, self.extra = x, extra

    def to_state(self):
        return {"x": self.x, "extra": self.extra}

    @classmethod
    def from_state(cls, state):
        return cls(state.take_number("x", 0, 1), state.take_optional("extra", Point))


class Child(Point):
    pass


@pytest.fixture(autouse=True)
def registry():
    """Classes that a test registers are forgotten after it."""
    before = dict(_classes)
    register(Point)
    yield
    _classes.clear()
    _classes.update(before)


def there_and_back(value):
    tree, arrays = encode(value)
    return decode(json.loads(json.dumps(tree, allow_nan=False)), arrays)


# -- there and back --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, 0, -5, 10**30, 2.5, 1e-300, "", "Å\ud800", [], (), {}),
        *([1, (2, [3])], (None,), {"a": {"b": ()}}, {"array": "a"}, {"class": 1, "state": {}}),
    ],
    ids=repr,
)
def test_plain_values(value):
    back = there_and_back(value)
    assert back == value
    assert type(back) is type(value)


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int32", "uint8", "uint64", "float32", "float64"]
)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (0, 4)])
def test_arrays(dtype, shape):
    array = np.ones(shape, dtype)
    for value in (array, {"a": [array, 2 * array]}):
        back = there_and_back(value)
        np.testing.assert_equal(back, value)
    assert there_and_back(array).dtype == dtype


def test_sparse_matrices():
    matrix = sp.random_array((5, 7), density=0.3, rng=np.random.default_rng(0), format="csr")
    back = there_and_back({"m": matrix})["m"]
    assert isinstance(back, sp.csr_array)
    assert back.shape == (5, 7)
    np.testing.assert_array_equal(back.toarray(), matrix.toarray())
    assert there_and_back(sp.csr_array((3, 0))).shape == (3, 0)


def test_what_is_simplified():
    values = [np.float32(0.5), np.int64(7), np.str_("N"), np.bool_(True)]
    values += [Path("a/b"), np.random.RandomState(0)]
    back = there_and_back(values)
    assert back == [0.5, 7, "N", True, str(Path("a/b")), None]
    assert [type(value) for value in back[:4]] == [float, int, str, bool]


def test_objects_in_objects():
    back = there_and_back([Point(0.5, Point(0.25))])
    assert type(back[0]) is Point
    assert (back[0].x, back[0].extra.x, back[0].extra.extra) == (0.5, 0.25, None)


class Element(IntEnum):
    C = 6


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": {1, 2}}, "a"),
        ({"a": [0, (1, b"C")]}, r"a\.1\.1"),
        ({"a": math.inf}, "a"),
        ({"a": math.nan}, "a"),
        (1j, "this"),
        (Element.C, "this"),
        ({1: 2}, "this"),
        (np.array(["a"]), "this"),
        (np.array([None]), "this"),
        (np.zeros(2, np.float16), "this"),
        (np.zeros(2, complex), "this"),
        (sp.coo_array((2, 2)), "this"),
        ({"p": Point(0.5, extra=len)}, r"p\.extra"),
        ({"c": [Child(0.5)]}, r"c\.0"),
        (Point, "this"),
        (range(3), "this"),
    ],
)
def test_what_is_refused_with_its_place(value, where):
    with pytest.raises(
        ValueError, match=rf"(?s)^{where} cannot be saved: .* is a \w+\. A file can"
    ):
        encode(value)


# -- what a tree can say wrongly -------------------------------------------------------------------

A = {"a": np.zeros(2)}


@pytest.mark.parametrize(
    ("tree", "arrays", "message"),
    [
        ({"array": "b"}, A, "the array 'b' is missing"),
        ([{"array": "a"}, {"array": "a"}], A, "the array 'a' is missing"),
        ([], A, r"the arrays \['a'\] do not belong there"),
        ({}, {}, "an entry has an unknown form"),
        ({"a": 1, "b": 2}, {}, "an entry has an unknown form"),
        ({"pickle": "gASV"}, {}, "an entry has the unknown form 'pickle'"),
        ({"class": "Nobody", "state": {"dict": {}}}, {}, "class Nobody, which is not registered"),
        ({"class": "Child", "state": {"dict": {"x": 0.5}}}, {}, "Child, which is not registered"),
        ({"class": "Point", "state": {"dict": {}}}, {}, "Point: x is missing"),
        ({"class": "Point", "state": {"dict": {"x": 2.0}}}, {}, "Point: x is out of range"),
        (
            {"class": "Point", "state": {"dict": {"x": 0.5, "extra": None, "more": 1}}},
            {},
            "Point: 'more' does not belong there",
        ),
    ],
)
def test_trees_that_are_wrong(tree, arrays, message):
    with pytest.raises(ValueError, match=message):
        decode(tree, arrays)


def csr(**changes):
    parts = {
        "data": np.ones(3),
        "indices": np.array([0, 2, 1]),
        "indptr": np.array([0, 2, 3]),
        "shape": (2, 3),
    }
    return encode(parts | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": (2,)}, "not a pair of counts"),
        ({"shape": (2, -3)}, "not a pair of counts"),
        ({"shape": [2, 3]}, "shape is missing or not of type tuple"),
        ({"shape": (10**9, 3)}, "row pointers do not fit"),
        ({"indptr": np.array([0, 2])}, "row pointers do not fit"),
        ({"indptr": np.array([0.0, 2, 3])}, "indices are not integers"),
        ({"indices": np.array([0, 2, 1], np.uint64)}, "indices are not integers"),
        ({"indptr": np.array([1, 2, 3])}, "row pointers do not ascend"),
        ({"indptr": np.array([0, 5, 3])}, "row pointers do not ascend"),
        ({"indices": np.array([0, 3, 1])}, "an index is out of range"),
        ({"indices": np.array([0, -1, 1])}, "an index is out of range"),
        ({"data": np.ones(2)}, "entries do not fit"),
        ({"data": np.array([1, np.nan, 1])}, "an entry is not finite"),
        ({"data": None}, "data is missing or not of type ndarray"),
        ({"more": 1}, "'more' does not belong there"),
    ],
    ids=str,
)
def test_sparse_matrices_that_are_wrong(changes, message):
    tree, arrays = csr()
    assert decode({"csr": tree}, arrays).shape == (2, 3)
    tree, arrays = csr(**changes)
    with pytest.raises(ValueError, match=f"sparse matrix: .*{message}"):
        decode({"csr": tree}, arrays)


# -- registry --------------------------------------------------------------------------------------


def test_register():
    assert is_registered(Point)
    assert registered_class("Point") is Point
    assert not is_registered(Child)
    assert register(Child) is Child
    assert is_registered(Child)
    assert type(there_and_back(Child(0.5))) is Child
    with pytest.raises(ValueError, match="class Nobody, which is not registered: import the"):
        registered_class("Nobody")


class Silent:
    def to_state(self):
        return {}


def test_classes_that_cannot_be_registered():
    with pytest.raises(TypeError, match="Silent cannot be registered: it has no from_state"):
        register(Silent)
    with pytest.raises(TypeError, match="int cannot be registered: it has no to_state"):
        register(int)


def test_one_name_is_one_class():
    elsewhere = type("Point", (Point,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match=r"elsewhere\.Point cannot be registered: .* choose anoth"):
        register(elsewhere)
    assert registered_class("Point") is Point
    again = type("Point", (Point,), {"__module__": Point.__module__, "__qualname__": "Point"})
    assert register(again) is again  # a notebook cell that runs again
    assert not is_registered(Point)


# -- state -----------------------------------------------------------------------------------------


FLOATS = "array a is float64"


@pytest.mark.parametrize(
    ("value", "take", "message"),
    [
        (True, lambda s: s.take("a", int), "a is missing or not of type int"),
        ("1", lambda s: s.take("a", (int, dict)), "not of type int or dict"),
        (1, lambda s: s.take("b", int), "b is missing"),
        (math.inf, lambda s: s.take_number("a"), "a is out of range"),
        (math.nan, lambda s: s.take_number("a"), "a is out of range"),
        (1, lambda s: s.take_number("a"), "not of type float"),
        (-1, lambda s: s.take_count("a"), "a is out of range"),
        (2**63, lambda s: s.take_count("a"), "a is out of range"),
        (6, lambda s: s.take_count("a", 5), "a is out of range"),
        ("x", lambda s: s.take_choice("a", ("y", "z")), "a is not one of y, z"),
        (3, lambda s: s.take_instance("a", Point), "a is missing or of another type than Point"),
        (3, lambda s: s.take_optional("a", Point), "a is missing or of another type than Point"),
        (None, lambda s: s.take_optional("b", Point), "b is missing or of another type than Point"),
        (
            np.zeros(2),
            lambda s: s.take_array("a", float, (3,)),
            rf"{FLOATS} \(2,\), expected float64",
        ),
        (np.zeros((2, 1)), lambda s: s.take_array("a", float, (2,)), rf"{FLOATS} \(2, 1\), expec"),
        (np.zeros(2, "f4"), lambda s: s.take_array("a", float, (None,)), r"float64 \('any',\)"),
        (np.array([np.nan]), lambda s: s.take_array("a", float, (None,)), "array a is not finite"),
        (np.array([-np.inf]), lambda s: s.take_array("a", float, (1,)), "array a is not finite"),
        ([0.0], lambda s: s.take_array("a", float, (1,)), "a is missing or not of type ndarray"),
        (np.array([0, 5]), lambda s: s.take_array("a", int, (2,), low=1), "a is out of range"),
        (np.array([0, 5]), lambda s: s.take_array("a", int, (2,), high=4), "a is out of range"),
    ],
)
def test_take(value, take, message):
    with pytest.raises(ValueError, match=f"Owner: .*{message}"):
        take(State("Owner", {"a": value}))


def test_every_item_is_taken_once():
    state = State("Owner", {"a": 1, "b": None})
    assert "a" in state
    assert state.take("a", int) == 1
    assert "a" not in state
    with pytest.raises(ValueError, match="a is missing"):
        state.take("a", int)
    with pytest.raises(ValueError, match="'b' does not belong there"):
        state.check_empty()
    assert state.take_optional("b", Point) is None
    state.check_empty()
    assert State("Owner", {"a": 1}).take_all() == {"a": 1}
    array = np.array([0, 5])
    assert State("Owner", {"a": array}).take_array("a", int, (None,), low=0, high=5) is array
