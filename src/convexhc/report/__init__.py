"""The report of a path: one HTML file that needs no network, and the card of a notebook.

Read in this order: ``packing`` (arrays as short text), ``levels`` (what the path found, level by
level), ``pictures`` (what is drawn), ``document`` (the page) and ``notebook``. The page itself is
in ``page/``: its skeleton, its style, and its scripts, which are joined in one file.
"""

from convexhc.report.document import report_html, write_report
from convexhc.report.notebook import notebook_html

__all__ = ["notebook_html", "report_html", "write_report"]
