"""Pages from templates, and the page of one run as a single file."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import jinja2

from intelliperf.errors import UsageError
from intelliperf.history.records import Judgement, Patch
from intelliperf.nightly.readings import judgement_of, patch_of
from intelliperf.records import Report
from intelliperf.report.files import blamed_sources, read
from intelliperf.report.html import page, style
from intelliperf.review.views import judgement_place

_HERE = Path(__file__).parent


@functools.cache
def _templates() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def render(template: str, **values: Any) -> str:
    return _templates().get_template(template).render(**values).encode("utf-8", "replace").decode("utf-8")


def static(name: str) -> str:
    """`page.css` is that of the page of one run."""
    return style() if name == "page.css" else (_HERE / "static" / name).read_text(encoding="utf-8")


def of_run(directory: Path) -> tuple[Report, Patch, Judgement]:
    """A run's patch and its verdict. Raises `UsageError` where it accepted none."""
    report = read(directory)
    patch = patch_of(report, report.application.project.name, None, directory.resolve(), None)
    if patch is None:
        raise UsageError(f"{directory} accepted no patch; `intelliperf report {directory}` says why")
    return report, patch, judgement_of(report, 0, judgement_place(report), None, None, directory.resolve())


def exported(directory: Path) -> str:
    """The run's page as one self-contained document: the same as its `report.html`."""
    report = read(directory)
    return page(report, blamed_sources(report))
