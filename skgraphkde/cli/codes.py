"""Exit codes, beside click's: 0 if all is well, 1 for bad input, 2 for wrong usage."""

#: Files were skipped, as requested; the alarm of `watch` has sounded; the user interrupted.
SKIPPED, ALARM, INTERRUPTED = 3, 4, 130
