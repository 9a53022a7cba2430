"""`python -m intelliperf`."""

from intelliperf.cli import main

if __name__ == "__main__":
    main()
