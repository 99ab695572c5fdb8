"""The structure of an HTML document: open and closed elements, tables and addresses."""

from html.parser import HTMLParser

VOID = {"meta", "br", "link", "img", "hr", "input"}


class Structure(HTMLParser):
    """Text of each table by rows, texts of headings, and all addresses in attributes."""

    def __init__(self, html):
        super().__init__()
        self.stack, self.tables, self.headings, self.addresses = [], [], [], []
        self.tags, self.ids = [], []
        self.feed(html)
        self.close()
        assert self.stack == []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name in ("src", "href", "xlink:href", "action", "data"):
                self.addresses.append(value)
            if name == "id":
                self.ids.append(value)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag in ("h1", "h2", "h3", "figcaption", "title"):
            self.headings.append("")
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.stack.pop() == tag

    def handle_data(self, data):
        if "style" in self.stack:
            return
        if {"td", "th"} & set(self.stack):
            self.tables[-1][-1][-1] += data
        if {"h1", "h2", "h3", "figcaption", "title"} & set(self.stack):
            self.headings[-1] += data
