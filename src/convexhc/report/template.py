"""A page as one self-contained HTML file: its template, style, scripts and data."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from collections.abc import Iterable
from importlib import resources
from typing import Any

from convexhc.version import __version__


def fill_template(
    page: str,
    data: dict[str, Any],
    *,
    title: str,
    summary: str,
    styles: Iterable[str],
    scripts: Iterable[str],
) -> str:
    """Fill a template; the content security policy allows only this style and this script.

    ``page``, styles and scripts are files of this package, joined in their order; ``data`` are
    values for JSON, which the scripts read; the title and the summary, for no JavaScript, are plain
    text.
    """
    style = "".join(_read(name) for name in styles)
    script = "(() => {\n" + "\n".join(_read(name) for name in scripts) + "})();\n"
    policy = (
        f"default-src 'none'; style-src {_source_hash(style)}; "
        f"script-src {_source_hash(script)}; base-uri 'none'; form-action 'none'; img-src data:"
    )
    parts = {
        "policy": policy,
        "title": html.escape(title),
        "summary": html.escape(summary),
        "generator": f"convexhc {__version__}",
        "style": style,
        "script": script,
        "data": json_for_script(data),
    }
    # One pass: a placeholder inside a title or a name stays as it is.
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _read(page))


def json_for_script(data: dict[str, Any]) -> str:
    """JSON for a script element, with all characters escaped that could end it."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _read(name: str) -> str:
    """Text of a file of this package."""
    return resources.files("convexhc.report").joinpath(name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    """Hash source of a content security policy."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
