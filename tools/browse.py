"""Open every page of a built site in Chromium, without network, and report what is wrong.

    python tools/browse.py docs/_build/html

Each page is shown at 1,400 and 420 pixels, in the light and in the dark theme. Errors of the
console, failed requests (all those to other hosts fail), images that are not shown, TeX that was
not rendered, pages wider than the window, and text with little contrast are reported. Then the
searches of `SEARCHES` are made. The exit status is 1 if anything was reported.
"""

import contextlib
import functools
import http.server
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

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
(async () => {
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
})()
"""

# the faults of a page at the present width, in a theme
LAYOUT = r"""
(() => {
  document.documentElement.dataset.theme = "%s";
  const faults = [], root = document.scrollingElement;
  if (root.scrollWidth > innerWidth)
    faults.push(`${root.scrollWidth} pixels wide`);
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
})()
"""

RESULTS = """
new Promise(resolve => {
  const started = Date.now();
  const look = () => {
    const links = [...document.querySelectorAll("#search-results ul.search li > a")];
      if (links.length >= 3 || Date.now() - started > 5000) {
      resolve(links.slice(0, 3).map(link => link.href));
    } else setTimeout(look, 20);
  };
  look();
})
"""


# Chromium reads commands from descriptor 3, and writes to 4
START = """
import fcntl, os, sys
pipes = [fcntl.fcntl(int(pipe), fcntl.F_DUPFD, 10) for pipe in sys.argv[1:3]]
for descriptor, pipe in zip((3, 4), pipes):
    os.dup2(pipe, descriptor)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Chromium:
    """A browser without network, controlled by the DevTools protocol through a pipe."""

    def __init__(self, profile):
        program = next(filter(None, map(shutil.which, BROWSERS)), None)
        if program is None:
            sys.exit("please install Chromium")
        (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()
        options = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        options += ["--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run"]
        options += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        pipes = (theirs_in, theirs_out)
        self._process = subprocess.Popen(
            [sys.executable, "-c", START, *map(str, pipes), program, *options],
            pass_fds=pipes,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        self._out, self._in = os.fdopen(ours_out, "wb"), os.fdopen(ours_in, "rb")
        self._session = {}
        self._numbers, self._rest, self.events = itertools.count(1), b"", []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = {"sessionId": session["sessionId"]}

    def call(self, method, **params):
        """Call a method of the protocol, and return its result."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params, **self._session}
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while (answer := self._read()).get("id") != number:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait_for(self, name):
        """Wait for an event."""
        while (event := self._read()).get("method") != name:
            self.events.append(event)

    def evaluate(self, code):
        """Return the value of an expression of JavaScript."""
        answer = self.call(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def close(self):
        """End the browser."""
        self._session = {}
        self.call("Browser.close")
        self._process.wait(timeout=30)
        self._in.close()
        self._out.close()

    def _read(self):
        while b"\0" not in self._rest:
            if not (chunk := os.read(self._in.fileno(), 1 << 16)):
                sys.exit("Chromium ended")
            self._rest += chunk
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)


def faults_of_events(events):
    """Yield the errors of the console, among which are requests that failed."""
    for event in events:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                yield "error: " + details.get("exception", {}).get("description", details["text"])
            case "Runtime.consoleAPICalled" if params["type"] == "error":
                yield "console: " + str([a.get("value") for a in params["args"]])
            case "Log.entryAdded" if params["entry"]["level"] == "error":
                yield f"log: {params['entry']['text']} {params['entry'].get('url', '')}"


def open_page(browser, url):
    """Show a page at the first width."""
    browser.events.clear()
    resize(browser, WIDTHS[0])
    browser.call("Page.navigate", url=url)
    browser.wait_for("Page.loadEventFired")


def resize(browser, width):
    """Set the width of the window."""
    browser.call(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip


def faults_of_page(browser, host, path):
    """Yield what is wrong with a page."""
    open_page(browser, host + ROOT + path)
    yield from browser.evaluate(CONTENT)
    for width in WIDTHS:
        resize(browser, width)
        for theme in THEMES:
            for fault in browser.evaluate(LAYOUT % theme):
                yield f"{width} pixels, {theme}: {fault}"
    yield from faults_of_events(browser.events)


def faults_of_searches(browser, host, searches):
    """Yield the searches that do not lead to their page."""
    for words in searches:
        query = words.replace("@", "%40").replace(" ", "+")
        open_page(browser, f"{host}{ROOT}search.html?q={query}")
        results = [url.removeprefix(host + ROOT) for url in browser.evaluate(RESULTS)]
        expected = results[:1] if "@" in words else results  # a name leads to its function first
        if not any(url.startswith(SEARCHES[words]) for url in expected):
            yield f"the search for {words!r} finds {results}"


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


def visit(host, paths, searches):
    """The faults of some pages and searches, in a browser of its own."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Chromium(profile)
        for domain in ("Page", "Runtime", "Log"):
            browser.call(f"{domain}.enable")
        faults = [
            f"{path}: {fault}" for path in paths for fault in faults_of_page(browser, host, path)
        ]
        faults += faults_of_searches(browser, host, searches)
        browser.close()
    return faults


def main(arguments):
    """Print what is wrong with a site; 1 if there is anything."""
    site = Path(arguments[0]).resolve()
    paths = [path.relative_to(site).as_posix() for path in sorted(site.rglob("*.html"))]
    paths = [path for path in paths if not path.startswith(("_static", "_downloads"))]
    searches = SEARCHES if "search.html" in paths else {}
    if not paths:
        sys.exit(f"{site} has no HTML files")
    with served(site) as host, ThreadPoolExecutor() as pool:
        jobs = [pool.submit(visit, host, paths[half::2], [*searches][half::2]) for half in (0, 1)]
        faults = [fault for job in jobs for fault in job.result()]
    print(*faults, f"{len(paths)} HTML files, {len(faults)} faults", sep="\n")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
