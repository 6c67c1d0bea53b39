"""The tables of the paper, measured: run by hand, never by the tests. See README.md here."""
