"""What compiled code here is built on: compiling, pointers, hashing, UTF-8, Unicode classes, threads."""
