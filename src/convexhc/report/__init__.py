"""The report of a path, one self-contained HTML file, and its notebook view.

``path_data`` and ``figure_data`` collect what the page shows, ``array_encoding`` makes arrays
short, ``document`` assembles the page and ``notebook`` the notebook view. The directory ``page/``
holds the HTML template, the style sheet and the scripts.
"""

from convexhc.report.document import report_html, write_report
from convexhc.report.notebook import notebook_html

__all__ = ["notebook_html", "report_html", "write_report"]
