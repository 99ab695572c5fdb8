"""One table in every form: harmless text, aligned numbers, and what the marks mean."""

import csv
import io
import re

import pytest
from html_structure import Structure
from query_values import pair_of

from sklearn_rankscore import compare
from sklearn_rankscore._table import Number, PValue, Table, clean, number_text

FORMS = ["text", "html", "markdown", "latex", "csv"]
EVIL = "a\nb\r\x1b[31m\u202ec\u2028\x9b\ud800 <b>|*_$&amp;\\%~"


def table(name="one"):
    rows = [
        [name, Number(-0.12345, "+.4f", (-0.2, 0.1), "*"), "no worse", PValue(1e-9), 1234],
        ["two", Number(0.00001, "+.4f"), "better", PValue(0.25), None],
    ]
    header = ["", "difference", "verdict", "p", "queries"]
    return Table(f"of {name}", header, rows, note="* few queries")


@pytest.mark.parametrize("form", FORMS)
def test_text_from_outside_stays_in_its_cell(form):
    """No line, row, escape sequence, turn of direction or markup comes from a name."""
    plain, evil = (getattr(table(name), form)() for name in ("one", EVIL))
    assert evil.count("\n") == plain.count("\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\ud800]", evil)
    escaped = r"a\nb\r\x1b[31m\u202ec\u2028\x9b\ud800"
    assert escaped in re.sub(r"\\textbackslash{}|\\\\", r"\\", evil).replace(r"\[", "[")
    if form == "html":
        assert "<b>" not in evil
        assert Structure(evil).tables[0][1][0].endswith(" <b>|*_$&amp;\\%~")
    if form == "markdown":
        assert {len(re.findall(r"(?<!\\)\|", line)) for line in evil.splitlines()[2:-2]} == {6}
        assert r"\<b\>\|\*\_\$\&amp;\\%\~" in evil
    if form == "latex":
        assert r"$<$b$>$\textbar{}*\_\$\&amp;\textbackslash{}\%\textasciitilde{}" in evil


@pytest.mark.parametrize("text", ["=1+1", "+A1", "-A1", "@SUM(A1)", " =1+1", "＝1"])
def test_cells_of_csv_are_no_formulas(text):
    """https://owasp.org/www-community/attacks/CSV_Injection"""
    shown = Table("", [text, "m"], [[text, 0.1]]).csv()
    assert list(csv.reader(io.StringIO(shown))) == [[f"'{text}", "m"], [f"'{text}", "0.1"]]
    assert clean("-1.5", "csv") == "-1.5"  # a number


def test_names_in_scripts_that_join_their_letters_are_kept():
    for name in ("می‌خواهم", "👩‍💻", "日本語", "naïve", "a\N{NO-BREAK SPACE}b"):
        assert clean(name) == name


def test_numbers_are_aligned_and_words_are_on_the_left():
    assert table().text().splitlines() == [
        "of one",
        f"{'difference':>32}  verdict         p  queries",
        "one  -0.1235 [-0.2000, +0.1000]*  no worse  <0.0001    1,234",
        "two   0.0000                      better     0.2500        -",
        "* few queries",
    ]
    assert table().markdown().splitlines()[3] == "| --- | ---: | --- | ---: | ---: |"
    assert r"\begin{tabular}{lrlrr}" in table().latex()
    assert table().html().count("text-align: left") == 3
    for form in FORMS[:-1]:  # what a mark means stands under the table
        shown = getattr(table(), form)()
        assert re.search(r"\*</td>|\* \||0\]\* |0\]\*  ", shown)
        assert re.search(r"(\n|<p>|smallskip )\\?\* few queries", shown)


def test_columns_and_digits():
    narrow = table().narrowed(["p", "difference"], 2)
    assert narrow.text().splitlines()[1:4] == [
        "         p             difference",
        "one  <0.01  -0.12 [-0.20, +0.10]*",
        "two   0.25   0.00",
    ]
    assert table().narrowed("queries").csv() == ",queries\none,1234\ntwo,\n"
    assert table().narrowed(digits=1).csv().splitlines()[1] == "one,-0.1,no worse,0.0,1234"
    with pytest.raises(ValueError, match=r"columns must be among 'difference', .*; got 'mean'"):
        table().narrowed(["mean"])


NUMBERS = [
    (-0.0004, "+.3f", "0.000"), (0.0004, ".3f", "0.000"), (0.0, "+.2f", "0.00"),
    (float("nan"), "+.3f", "nan"), (float("-inf"), "+.1f", "-inf"), (-1e-7, "+.2g", "-1e-07"),
    (-0.5, "+.3f", "-0.500"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "spec", "text"), NUMBERS)
def test_no_sign_where_nothing_is_left(number, spec, text):
    assert number_text(number, spec) == text


def test_a_comparison_has_fewer_columns_and_digits_on_request():
    compared = compare(pair_of([0.5, 0.25, 0], ["ndcg"]), test="t")
    for text in (compared.to_string, compared.to_markdown, compared.to_latex):
        narrow = text(columns=["difference", "p (holm)"], digits=2)
        assert re.findall("wins|difference|0.25+|ndcg", narrow) == ["difference", "ndcg", "0.25"]
    table = compared.system_table()
    assert table.to_string(columns="ndcg", digits=2).splitlines()[2].split() == ["b", "b", "0.25"]
    with pytest.raises(ValueError, match="digits must be an integer of at least 0"):
        compared.to_string(digits=-1)
