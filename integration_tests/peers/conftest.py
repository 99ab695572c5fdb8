"""Rankings on which other libraries are compared."""

import pytest
from fast_path import fast_path  # noqa: F401 - a fixture
from library_samples import lambdarank_sample, random_sample

from sklearn_rankscore import load_lambdarank


@pytest.fixture(scope="module", params=["short", "long", "lambdarank"])
def sample(request):
    if request.param == "lambdarank":
        return lambdarank_sample(*load_lambdarank(return_X_y=True, subset="train"))
    return random_sample(longest={"short": 14, "long": 70}[request.param])
