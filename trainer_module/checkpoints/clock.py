"""Something to be done every so many minutes. Pure."""

import time
from collections.abc import Callable


class Every:
    """Tells when the next time has come.

    Args:
      minutes: from one time to the next.
      clock: seconds, monotonic.

    Raises:
      ValueError: if `minutes` is not above 0.
    """

    def __init__(self, minutes: float, clock: Callable[[], float] = time.monotonic):
        if not minutes > 0:
            raise ValueError(f"`minutes` must be above 0. Received: {minutes}")
        self._seconds, self._clock = 60 * minutes, clock
        self._since = clock()

    def due(self) -> bool:
        """Whether the minutes have passed; they then start anew."""
        if self._clock() - self._since < self._seconds:
            return False
        self.restart()
        return True

    def restart(self) -> None:
        """Counts the minutes from now, as after doing it for another reason."""
        self._since = self._clock()
