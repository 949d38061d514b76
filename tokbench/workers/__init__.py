"""Worker processes: the child's side, the parent's side, a pool of them, and Ctrl-C.

Tokenizers run in processes of their own, since other people's native code may hang, hoard memory or crash.
"""
