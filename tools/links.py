"""Find broken internal links of a built site: missing files, images and anchors.

    python tools/links.py docs/_build/html

Every broken link is printed, and the exit status is 1 if there is one. Links to other sites are not
followed. Links of the page 404.html are from the root of the host.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# the path of the site on its host
ROOT = "/en/latest/"


class Page(HTMLParser):
    """The anchors of an HTML page and its links."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = {"", "top"}, []
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        """Note the anchors and links of an element."""
        for name, value in attrs:
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value and not (tag == "link" and name == "canonical"):
                self.links.append(value)


@cache
def read(path):
    """An HTML file, parsed once."""
    return Page(path)


def broken(site):
    """HTML page and link of each link that leads nowhere, and the number of links."""
    faults, count = [], 0
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.relative_to(site).parts:
            continue  # templates of the theme
        for link in read(path).links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            local = unquote(parts.path)
            folder = site if local.startswith(ROOT) else path.parent
            target = (folder / local.removeprefix(ROOT)).resolve() if local else path
            if target.is_dir():
                target /= "index.html"
            is_page = target.suffix == ".html" and target.exists()
            if not target.exists() or (
                is_page and unquote(parts.fragment) not in read(target).anchors
            ):
                faults.append((path.relative_to(site), link))
    return faults, count


def main(arguments):
    """Print the broken links of a site; 1 if there are any, or no links at all."""
    faults, count = broken(Path(arguments[0]).resolve())
    for path, link in faults:
        print(f"{path}: {link}")
    print(f"{count} internal links, {len(faults)} broken")
    return int(bool(faults) or not count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
