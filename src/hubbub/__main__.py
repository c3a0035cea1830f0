"""`python -m hubbub`: the command line."""

from hubbub.cli import main

if __name__ == "__main__":
    main()
