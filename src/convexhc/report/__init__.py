"""Reports, each one self-contained HTML file: of a path, with its notebook view, and of a cohort.

``path_data`` and ``figure_data`` collect what the page of a path shows, ``array_encoding`` makes
arrays short, ``document`` assembles the page from the files of ``page/`` and ``notebook`` the
notebook view. ``cohort_page`` does all this for a cohort, with ``cohort/`` and the style sheet of
``page/``; ``shared/`` has the scripts of both.
"""

from convexhc.report.cohort_page import write_cohort_report
from convexhc.report.document import report_html, write_report
from convexhc.report.notebook import notebook_html

__all__ = ["notebook_html", "report_html", "write_cohort_report", "write_report"]
