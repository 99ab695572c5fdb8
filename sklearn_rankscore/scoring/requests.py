"""The metadata that a scorer requests, row-aligned arrays that metadata routing passes."""

from __future__ import annotations

from typing import Self

import sklearn
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from .._sklearn_compat import metadata_request

REQUESTS: dict[str, bool | None] = {
    "groups": True,
    "qid": True,
    "sample_weight": None,
    "propensity": None,
    "target": None,
}


class RequestsMetadata:
    """The part of a scorer that tells metadata routing what it takes."""

    # Each instance has its own requests: scikit-learn 1.8 ignores a class attribute
    # __metadata_request__score, and 1.9 does not inherit it.
    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata that this scorer requests: by default `groups` and `qid`."""
        if "_metadata_request" in vars(self):
            return get_routing_for_object(self._metadata_request)
        return metadata_request(self, REQUESTS)

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Change what metadata routing passes, such as ``groups="session_id"``.

        Parameters
        ----------
        **requests
            `groups`, `qid`, `sample_weight`, `propensity` or `target`: True, False, None or the
            name it is passed under.

        Returns
        -------
        RankingScorer
            The scorer itself.

        Raises
        ------
        RuntimeError
            If metadata routing is not enabled.
        TypeError
            For a parameter that is none of these.
        """
        if not sklearn.get_config()["enable_metadata_routing"]:
            raise RuntimeError(
                "This method is only available when metadata routing is enabled. You can enable "
                "it using sklearn.set_config(enable_metadata_routing=True)."
            )
        request = self.get_metadata_routing()
        for param, alias in requests.items():
            if param not in REQUESTS:
                raise TypeError(f"a ranking scorer requests {', '.join(REQUESTS)}; got {param!r}.")
            request.score.add_request(param=param, alias=alias)
        self._metadata_request = request
        return self
