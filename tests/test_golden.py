"""Default scores, p-values, verdicts and reasons are those of tests/golden.py."""

import json

import numpy as np
import pytest

from tests.golden import CASES, PATH, SENTENCES

GOLDEN = np.load(PATH)
GOLDEN_SENTENCES = json.loads(SENTENCES.read_text("utf-8"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CASES)
def test_results_are_golden(case):
    found = CASES[case]()
    expected = {key.split("/")[1]: GOLDEN[key] for key in GOLDEN.files if key.startswith(case)}
    assert found.pop("sentences", None) == GOLDEN_SENTENCES.get(case)
    assert found.keys() == expected.keys()
    tolerance = 1e-4 if case == "trained" else 1e-9
    if "findings" in found:
        assert json.loads(str(found.pop("findings"))) == json.loads(str(expected.pop("findings")))
    for kind, values in found.items():
        np.testing.assert_allclose(values, expected[kind], tolerance, tolerance, err_msg=kind)
