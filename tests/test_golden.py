"""Default scores, p-values, verdicts and reasons are those of tests/golden.npz."""

import json

import numpy as np
import pytest

from tests.golden import CASES, PATH

GOLDEN = np.load(PATH)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_results_are_golden(case):
    found = CASES[case]()
    expected = {key.split("/")[1]: GOLDEN[key] for key in GOLDEN.files if key.startswith(case)}
    assert found.keys() == expected.keys()
    tolerance = 1e-4 if case == "trained" else 1e-9
    if "texts" in found:
        assert json.loads(str(found.pop("texts"))) == json.loads(str(expected.pop("texts")))
    for kind, values in found.items():
        np.testing.assert_allclose(values, expected[kind], tolerance, tolerance, err_msg=kind)
