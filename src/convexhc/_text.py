"""Numbers as text: durations, counts with their noun, short decimals; lam on a page."""

from __future__ import annotations

import re


def clock(seconds: float) -> str:
    """A duration in the units that a person would use.

    Examples
    --------
    >>> clock(3.21), clock(75), clock(7300)
    ('3.2 s', '1 min 15 s', '2 h 01 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    if seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60:02d} s"
    return f"{int(seconds) // 3600} h {int(seconds) % 3600 // 60:02d} min"


def counted(number: int, noun: str) -> str:
    """``1 node``, ``2 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_number(value: float) -> str:
    """Three significant digits, in plain notation from 0.0001 to 999 999.

    Examples
    --------
    >>> format_number(0.012345), format_number(1234.5), format_number(2.5e7)
    ('0.0123', '1230', '2.5e+07')
    """
    return f"{float(f'{value:.3g}'):g}"


def on_page(text: str) -> str:
    """A text of the library as a page shows it: with the letter for the word ``lam``.

    Examples
    --------
    >>> on_page("lasts while lam grows, in all lambdas")
    'lasts while λ grows, in all lambdas'
    """
    return re.sub(r"\blam\b", "\u03bb", text)
