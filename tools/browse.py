"""Open every page of a built site in Chromium, without network, and report what is wrong.

    python tools/browse.py docs/_build/html

Each page is shown at 1,400 and 420 pixels, and in the light and in the dark theme. Errors of the
console, failed requests (all those to other hosts fail), images that are not shown, links to pages
or places that do not exist, TeX that was not rendered, pages wider than the window, and text with
little contrast are reported. Then the searches of `SEARCHES` are made. The exit status is 1 if
anything was reported.
"""

import contextlib
import functools
import http.server
import shutil
import sys
import threading
from pathlib import Path
from urllib.parse import unquote, urldefrag

from playwright.sync_api import Error, sync_playwright

ROOT = "/en/latest/"  # the path of the site on its host, from which the links of 404.html start
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
WIDTHS = (1400, 420)
THEMES = ("light", "dark")
# a search, and the beginning of the page that answers it, among the first three results
SEARCHES = {
    "ndcg@10": "api/sklearn_rankscore.ndcg_score",
    "map@10": "api/sklearn_rankscore.map_score",
    "novelty": "faq",
    "csv": "guide/command_line",
    "command line": "guide/command_line",
    "session id": "guide/query_ids",
}

# the faults of a page that do not depend on width and theme
CONTENT = r"""
async () => {
  const faults = [];
  for (const image of document.images) {
    image.loading = "eager";
    try { await image.decode(); } catch { faults.push("image not shown: " + image.src); }
  }
  const main = document.querySelector("main") ?? document.body;
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (parentElement.closest("pre, code, script, style, annotation")) continue;
    const tex = data.match(/\$[^$\d][^$]*\$|\\[a-zA-Z]{2,}|\\\(/);
    if (tex) faults.push("TeX: " + tex[0]);
  }
  return faults;
}
"""

WIDTH = "document.scrollingElement.scrollWidth"

# text of little contrast in a theme
CONTRAST = r"""
theme => {
  document.documentElement.dataset.theme = theme;
  const faults = [];
  const parse = color => color.match(/[\d.]+/g).map(Number);
  const luminance = color => {
    const [r, g, b] = color.map(c => c / 255).map(
      c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const background = element => {
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e), color = parse(style.backgroundColor);
      if (style.backgroundImage !== "none" || (color.length > 3 && color[3] > 0 && color[3] < 1))
        return null;
      if (color.length === 3 || color[3] === 1) return color.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  const main = document.querySelector("main") ?? document.body;
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.data.trim() || seen.has(element) || !element.checkVisibility()) continue;
    seen.add(element);
    if (element.closest(".search-button__kbd-shortcut")) continue;  // of the theme
    const color = parse(getComputedStyle(element).color), behind = background(element);
    if (!behind || color[3] === 0) continue;
    const [low, high] = [luminance(color.slice(0, 3)), luminance(behind)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 3)
      faults.push(`contrast ${contrast.toFixed(1)}: ${texts.currentNode.data.trim().slice(0, 40)}`);
  }
  return faults.slice(0, 5);
}
"""
LINKS = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
PLACES = "[...document.querySelectorAll('[id], a[name]')].map(e => e.id || e.name)"
RESULTS = "#search-results ul.search li > a"


class Browser:
    """A page of Chromium, and what went wrong on it."""

    def __init__(self, chromium, host):
        self.page, self.host, self._faults = chromium.new_page(), host, []
        self.page.on("pageerror", lambda error: self._faults.append(f"error: {error}"))
        self.page.on("console", self._hear)

    def _hear(self, message):
        if message.type == "error":
            where = message.location.get("url", "")
            self._faults.append(f"console: {message.text} {where}")

    def faults(self, path):
        """Return the faults of a page, the places on it, and its links within the site."""
        self._faults = []
        self.page.set_viewport_size({"width": WIDTHS[0], "height": 900})
        self.page.goto(self.host + ROOT + path, wait_until="load")
        faults = self.page.evaluate(CONTENT)
        for theme in THEMES:
            faults += [f"{theme}: {fault}" for fault in self.page.evaluate(CONTRAST, theme)]
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 900})
            if (wide := self.page.evaluate(WIDTH)) > width:
                faults.append(f"{wide} pixels wide in a window of {width}")
        links = [link for link in self.page.evaluate(LINKS) if link.startswith(self.host)]
        return faults + self._faults, set(self.page.evaluate(PLACES)), links

    def search(self, words):
        """Return the first three results of a search."""
        query = words.replace("@", "%40").replace(" ", "+")
        self.page.goto(f"{self.host}{ROOT}search.html?q={query}")
        with contextlib.suppress(Error):
            self.page.wait_for_function(
                f"document.querySelectorAll('{RESULTS}').length > 2", timeout=5000
            )
        urls = self.page.eval_on_selector_all(RESULTS, "links => links.map(link => link.href)")
        return [url.removeprefix(self.host + ROOT) for url in urls[:3]]


@contextlib.contextmanager
def served(site):
    """The address of a local server of the site."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            """Serve the site below `ROOT`."""
            return super().translate_path("/" + path.removeprefix(ROOT))

        def end_headers(self):
            """Let the browser keep what many pages load."""
            self.send_header("Cache-Control", "max-age=3600")
            super().end_headers()

        def log_message(self, *args):
            """Print no requests."""

    handler = functools.partial(Handler, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def broken(links, places, site, host):
    """Yield the links of a page that lead to no file, or to no place on a page."""
    for link in sorted(set(links)):
        url, place = urldefrag(link)
        path = unquote(url.removeprefix(host).partition("?")[0])
        file = site / path.removeprefix(ROOT)
        file = file / "index.html" if file.is_dir() else file
        name = file.relative_to(site).as_posix() if file.is_relative_to(site) else ""
        if not path.startswith(ROOT) or not file.exists():
            yield f"link to {path}"
        elif place and name in places and unquote(place) not in places[name] | {"top"}:
            yield f"link to {path}#{place}"


def visit(site, paths, searches=()):
    """Return the faults of some pages and searches."""
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        sys.exit("please install Chromium")
    options = ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
    with served(site) as host, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=program, args=options)
        browser = Browser(chromium, host)
        visited = {path: browser.faults(path) for path in paths}
        places = {path: ids for path, (_, ids, _) in visited.items()}
        faults = [
            f"{path}: {fault}"
            for path, (own, _, links) in visited.items()
            for fault in [*own, *broken(links, places, site, host)]
        ]
        for words in searches:
            results = browser.search(words)
            expected = results[:1] if "@" in words else results  # a name leads to its function
            if not any(url.startswith(SEARCHES[words]) for url in expected):
                faults.append(f"the search for {words!r} finds {results}")
        chromium.close()
    return faults


def main(arguments):
    """Print what is wrong with a site; 1 if there is anything."""
    site = Path(arguments[0]).resolve()
    paths = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    paths = [path for path in paths if not path.startswith(("_static", "_downloads"))]
    if not paths:
        sys.exit(f"{site} has no HTML files")
    faults = visit(site, paths, SEARCHES if "search.html" in paths else ())
    print(*faults, f"{len(paths)} HTML files, {len(faults)} faults", sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
