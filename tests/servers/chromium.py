"""Debian's Chromium without a window, driven by Playwright, for the tests of pages."""

from __future__ import annotations

import contextlib
import importlib.util
import shutil
from collections.abc import Iterator
from typing import Any

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def _program() -> str | None:
    return next(filter(None, map(shutil.which, _NAMES)), None)


def missing() -> str | None:
    if importlib.util.find_spec("playwright") is None:
        return "needs Playwright (pip install playwright)"
    return None if _program() is not None else "needs Chromium (apt-get install chromium)"


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """A Playwright `Browser`. Its own sandbox needs more than a container allows; only our own pages are shown."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=_program(), args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


# Every text node's colour against what is behind it (WCAG 2.2, relative luminance), with the ratio that its size needs.
CONTRASTS = """
() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => {
    const part = (c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; };
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement;
    const box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (!walk.currentNode.data.trim() || !box.width || style.visibility === "hidden") continue;
    const paint = element.closest("svg") ? style.fill : style.color;
    const [a, b] = [light(parse(paint)), light(ground(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const text = walk.currentNode.data.trim().slice(0, 40);
    found.push({ ratio: (a + 0.05) / (b + 0.05), needs: large ? 3 : 4.5, text, tag: element.tagName, paint });
  }
  return found;
}
"""
