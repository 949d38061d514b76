"""`python -m tokbench`: the command line."""

from tokbench.cli import main

if __name__ == "__main__":
    main()
