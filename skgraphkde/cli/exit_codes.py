"""Exit codes in addition to click's: 0 for success, 1 for bad input, 2 for wrong usage."""

#: Files were skipped, as requested; `watch` has sounded an alarm; the user interrupted.
SKIPPED, ALARM, INTERRUPTED = 3, 4, 130
