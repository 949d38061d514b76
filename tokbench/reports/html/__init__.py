"""The HTML report: one file that opens offline and contains its policy, styles, script, tables and figures."""
