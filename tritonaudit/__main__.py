"""`python -m tritonaudit`."""

from tritonaudit.cli import main

if __name__ == "__main__":
    main()
