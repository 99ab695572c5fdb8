"""The HTML representation of a ranker in a notebook."""

import re

from sklearn.linear_model import Ridge

from sklearn_rankscore import QueryRanker


class Derived(QueryRanker):
    """A ranker that another project derives, of which our documentation knows nothing."""


def links(estimator):
    return re.findall(r'href="([^"]*)"', estimator._repr_html_())


def test_it_links_to_the_documentation_of_the_ranker():
    page = "api/sklearn_rankscore.QueryRanker.html"
    assert any(
        link.startswith("https://sklearn-rankscore.readthedocs.io/") and link.endswith(page)
        for link in links(QueryRanker(Ridge()))
    )


def test_a_derived_class_has_no_link_to_a_page_that_does_not_exist():
    assert not any("Derived.html" in link for link in links(Derived(Ridge())))
