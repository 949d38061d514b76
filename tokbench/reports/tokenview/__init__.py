"""The token view: text taken apart into coloured tokens, the same in the report and on the live page.

`render` makes the markup in Python, `tokens.js` makes the same markup in a browser and adds the details of
the token under the pointer or the arrow keys, `tokens.css` is its look.
"""
