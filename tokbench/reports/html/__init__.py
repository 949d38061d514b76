"""The HTML report: one file that opens offline, with its policy, styles, script, tables and figures inside."""
