"""Arrays of other libraries as labels, scores, ids and weights give the numbers of NumPy."""

import os
import subprocess
import sys

import numpy as np
import pytest
from requires import requires

from sklearn_rankscore import evaluate, ndcg_score

RANDOM = np.random.default_rng(0)
DATA = {
    "y_true": RANDOM.integers(0, 4, 50),
    "y_score": RANDOM.random(50).round(1),
    "groups": RANDOM.integers(0, 5, 50),
}
DATA["sample_weight"] = DATA["groups"] + 1.0


class OnlyDLPack:
    """An array that others can read by DLPack and in no other way."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_dlpack():
    arrays = {name: OnlyDLPack(values) for name, values in DATA.items()}
    assert evaluate(metrics="ndcg", **arrays) == evaluate(metrics="ndcg", **DATA)


def test_array_api():
    xp = requires("array_api_strict")
    arrays = {name: xp.asarray(values) for name, values in DATA.items()}
    assert evaluate(metrics="ndcg", **arrays) == evaluate(metrics="ndcg", **DATA)


@pytest.mark.parametrize("name", ["y_true", "y_score", "groups", "sample_weight"])
def test_another_device_is_refused(name):
    xp = requires("array_api_strict")
    elsewhere = xp.asarray(DATA[name], device=xp.Device("device1"))
    with pytest.raises(TypeError, match=rf"{name} is an array that NumPy cannot read.*to the CPU"):
        ndcg_score(**{**DATA, name: elsewhere})


@pytest.mark.slow
def test_tensors_with_and_without_gradient():
    tensor = requires("torch").tensor
    arrays = {name: tensor(values) for name, values in DATA.items()}
    arrays["y_score"].requires_grad_()
    assert evaluate(metrics="ndcg", **arrays) == evaluate(metrics="ndcg", **DATA)
    halves = arrays["y_score"].bfloat16()
    rounded = {**DATA, "y_score": halves.detach().double().numpy()}
    assert ndcg_score(**{**arrays, "y_score": halves}) == ndcg_score(**rounded)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["y_true", "y_score", "groups", "sample_weight"])
def test_tensors_without_data_are_refused(name):
    meta = requires("torch").zeros(50, device="meta")
    with pytest.raises(TypeError, match=f"{name} is an array that NumPy cannot read"):
        ndcg_score(**{**DATA, name: meta})


TORCH_MODEL = """
import numpy as np
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from torch import is_tensor, tensor

from sklearn_rankscore import QueryKFold, make_ranking, ndcg_score

X, y, groups = make_ranking(n_queries=40, random_state=0)
options = {"scoring": "ndcg@10", "cv": QueryKFold(4), "params": {"groups": groups}}
model, y = Ridge(solver="svd"), y.astype(float)
with config_context(enable_metadata_routing=True):
    expected = cross_val_score(model, X, y, **options)
    with config_context(array_api_dispatch=True):
        scores = cross_val_score(model, tensor(X), tensor(y), **options)
        predicted = model.fit(tensor(X), tensor(y)).predict(tensor(X))
        ndcg = ndcg_score(tensor(y), predicted, groups=tensor(groups))
assert is_tensor(predicted)
np.testing.assert_allclose(scores, expected, rtol=1e-12)
np.testing.assert_allclose(ndcg, ndcg_score(y, model.fit(X, y).predict(X), groups=groups))
print("equal")
"""


@pytest.mark.slow
def test_scoring_a_torch_model():
    """The scorer gets a tensor of predictions from scikit-learn's array API support.

    scikit-learn asks for an environment variable that is set before SciPy is imported.
    """
    requires("torch")
    run = subprocess.run(
        [sys.executable, "-c", TORCH_MODEL],
        env=os.environ | {"SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
    )
    assert run.stdout == "equal\n", run.stderr
