"""What compiled code is built on: compiling, keeping, pointers, hashing, UTF-8, Unicode classes, threads."""
