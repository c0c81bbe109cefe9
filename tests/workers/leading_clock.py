"""
A clock to judge by whether something came before its slot.

Slots are due by the store's clock, which is the machine's wall clock; and whoever administers that may set it while a
test runs (machines that run tests for others do). So neither clock alone can tell "too early": by the monotonic one all
that comes after the wall clock was set forward is, by the wall clock what was awarded before it was set back.
"""

import time


class LeadingClock:
    """Seconds, never behind the wall clock and never set back: at first the wall clock; where that is set forward it
    goes along, where it is set back it does not."""

    def __init__(self):
        self.ahead = time.time() - time.monotonic()

    def now(self):
        at = time.monotonic()
        self.ahead = max(self.ahead, time.time() - at)
        return at + self.ahead
