"""Settings of the documentation site: `make docs` builds it into build/site.

The Markdown pages are read as they are. What the site has beyond them, lists of pages, the API
reference and live reports, is made by the modules in `_ext` while it is built.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
# Notebooks draw into their cells.
os.environ.pop("MPLBACKEND", None)
# The kernels of the notebooks speak of their own transport otherwise.
IPYTHON = HERE.parent / "build" / "ipython"
(IPYTHON / "profile_default").mkdir(parents=True, exist_ok=True)
(IPYTHON / "profile_default" / "ipython_kernel_config.py").write_text(
    'get_config().IPKernelApp.log_level = "ERROR"\n', encoding="utf-8"
)
os.environ["IPYTHONDIR"] = str(IPYTHON)

import convexhc  # noqa: E402

project = "convexhc"
author = "The convexhc developers"
copyright = "The convexhc developers"
release = version = convexhc.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "api_reference",
    "live_reports",
    "markdown_pages",
]
exclude_patterns = ["_ext", "_templates", "screenshots/*.py", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["_templates"]
nitpicky = True

# Markdown and notebooks. Notebooks are stored without outputs and executed here.
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
nb_execution_mode = "auto"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
nb_merge_streams = True

# The API reference. A name in single backticks becomes a link where there is such a name.
default_role = "autolink"
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# Only what is typed is copied, without prompts and outputs.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "backreferences_dir": "reference/backreferences",
    "filename_pattern": r"\.py$",
    "within_subsection_order": "gallery_order.by_topic",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "capture_repr": (),
    "doc_module": ("convexhc",),
    "reference_url": {"convexhc": None},
    "image_srcset": ["2x"],
    "matplotlib_animations": False,
}

pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"

html_theme = "furo"
html_title = "convexhc"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_live"]  # written by live_reports
(HERE / "_live").mkdir(exist_ok=True)
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5fa8",
        "color-brand-content": "#1f5fa8",
    },
    "dark_css_variables": {
        "color-brand-primary": "#86b6ef",
        "color-brand-content": "#86b6ef",
    },
}
