"""Color refinement: hashes of rows, and numbers of colors; test_relations.py has an oracle."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.graphs.refinement import factorize, hash64, hash_rows
from tests.graphs.common import partition


def test_rows_have_the_same_color_up_to_rounding():
    X = [[0.1 + 0.2, 0.0], [0.3, -0.0], [0.3 + 1e-9, 0.0], [0.0, 0.3], [1e-12, 0.3], [2e-12, 0.3]]
    assert partition(hash_rows(np.array(X)).tolist()) == [0, 0, 1, 2, 3, 4]


def test_colors_are_the_same_in_every_process():
    """Fitted novelty in a file relies on them."""
    colors = hash_rows(np.array([[0.25, -1.5]]))
    assert colors.tolist() == [1366560685707708658]
    assert hash64(np.arange(2, dtype=np.uint64)).tolist() == [
        16294208416658607535,
        10451216379200822465,
    ]


@given(
    st.lists(
        st.integers(0, 2**64 - 1) | st.integers(0, 9) | st.integers(0, 15).map(lambda x: x << 60)
    )
)
def test_colors_are_numbered_in_the_order_in_which_they_come(colors):
    first, number = factorize(np.array(colors, dtype=np.uint64))
    distinct = list(dict.fromkeys(colors))
    assert [colors[i] for i in first] == distinct
    assert first.tolist() == [colors.index(x) for x in distinct]
    assert number.tolist() == [distinct.index(x) for x in colors]
