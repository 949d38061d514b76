"""Sphinx: Markdown pages by MyST, the API page from docstrings; every warning is an error in CI."""

import tokbench

project = "tokbench"
author = "The tokbench developers"
version = release = tokbench.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
html_theme = "furo"
html_title = "tokbench"
exclude_patterns = ["build", "examples/**/README.md"]
autodoc_typehints = "description"
autodoc_member_order = "bysource"
napoleon_google_docstring = True
default_role = "code"
