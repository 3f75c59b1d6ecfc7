"""Numbers and counts as text, for titles, labels and messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """A count with its noun: ``1 node``, ``2 nodes``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def format_number(value: float) -> str:
    """Three significant digits, in plain notation from 0.0001 to 999 999.

    Examples
    --------
    >>> format_number(0.012345), format_number(1234.5), format_number(2.5e7)
    ('0.0123', '1230', '2.5e+07')
    """
    return f"{float(f'{value:.3g}'):g}"
