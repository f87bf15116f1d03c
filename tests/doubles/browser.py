"""A real browser, driven through the protocol that every browser speaks: WebDriver, over HTTP.

It is Chromium without a window, with nothing but the machine itself to reach: whatever a page wants from
elsewhere fails, and is seen.
"""

import base64
import json
import re
import shutil
import subprocess
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

DRIVER = shutil.which("chromedriver")
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")
WHY_NOT = "there is no Chromium with its driver: `apt-get install chromium chromium-driver` brings both"

KEYS = {
    "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " ",
    "ArrowLeft": "\ue012", "ArrowRight": "\ue014",
}  # fmt: skip


class Browser:
    """One window; closed when the tests are over."""

    def __init__(self):
        self.process = subprocess.Popen(
            [DRIVER, "--port=0", "--log-level=SEVERE"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        port = None
        while port is None:
            found = re.search(rb"on port (\d+)\.", self.process.stdout.readline())
            port = int(found[1]) if found else None
        self.base = f"http://127.0.0.1:{port}"
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1280,900"]
        flags += ["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        wish = {
            "browserName": "chrome",
            "timeouts": {"script": 180_000, "pageLoad": 180_000},
            "goog:chromeOptions": {"args": flags, "binary": CHROMIUM},
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": wish}})
        self.base += f"/session/{answer['sessionId']}"

    def _send(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = Request(self.base + path, data, {"Content-Type": "application/json"}, method=method)
        try:
            with urlopen(request, timeout=200) as answer:
                return json.load(answer)["value"]
        except HTTPError as error:
            raise AssertionError(json.load(error)["value"]["message"]) from None

    def open(self, url):
        """Go to a page, and forget what was said on the one before."""
        self.console()
        self._send("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """Run a script in the page; what it returns."""
        return self._send("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def run_later(self, script, *arguments):
        """Run a script that gives its answer to the last argument."""
        return self._send("POST", "/execute/async", {"script": script, "args": list(arguments)})

    def until(self, script, tries=200):
        """Wait for a script to return something; what it returns."""
        for _ in range(tries):
            found = self.run(script)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"the page never came to: {script}")

    def press(self, *keys):
        """Press keys, by their names or as text."""
        actions = []
        for key in keys:
            for letter in [KEYS[key]] if key in KEYS else key:
                actions += [{"type": "keyDown", "value": letter}, {"type": "keyUp", "value": letter}]
        self._send("POST", "/actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def reach(self, words):
        """Go by Tab alone until what is focused bears these words."""
        for _ in range(120):
            self.press("Tab")
            if self.run("return document.activeElement.textContent.trim()") == words:
                return
        raise AssertionError(f"no Tab leads to {words}")

    def size(self, width, height):
        """Make the window so large."""
        self._send("POST", "/window/rect", {"width": width, "height": height})

    def prefer(self, scheme):
        """Make the reader like it `light` or `dark`."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        wish = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
        self._send("POST", "/goog/cdp/execute", wish)

    def console(self):
        """What the page complained about since the last time."""
        said = self._send("POST", "/se/log", {"type": "browser"})
        return [one["message"] for one in said if one["level"] in ("SEVERE", "WARNING")]

    def picture(self):
        """What is to be seen, as PNG."""
        return base64.b64decode(self._send("GET", "/screenshot"))

    def close(self):
        """End the browser and its driver."""
        self._send("DELETE", "")
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()
