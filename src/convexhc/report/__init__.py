"""Reports, each one self-contained HTML file: of a path, with its notebook view, and of a cohort.

``path_data`` and ``figure_data`` collect what the page of a path shows, ``array_encoding`` makes
arrays short, and ``document`` assembles the page from the files of ``page/``. ``cohort_page`` does
all this for a cohort, with ``cohort/`` and the style sheet of ``page/``; ``shared/`` has what both
pages use.
"""

from convexhc.report.cohort_page import write_cohort_report
from convexhc.report.document import notebook_html, report_html, write_report

__all__ = ["notebook_html", "report_html", "write_cohort_report", "write_report"]
