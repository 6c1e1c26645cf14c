"""Tells whether some process still writes a file."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import sys
import time
from typing import BinaryIO

# Where the system does not tell, a file that did not change for so long is taken for complete.
QUIET_SECS = 1.0


def has_writer(file: BinaryIO) -> bool:
    """Returns whether a process may still write this open file.

    On Linux the answer comes from the kernel. If it is no, whoever opens the file for writing waits
    until this process has closed it: remove the file before that.
    """
    if sys.platform == "linux":
        # The kernel sends this signal to the holder of a lease when a writer comes.
        signal.signal(signal.SIGIO, signal.SIG_IGN)
        try:
            fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_RDLCK)
        except OSError as error:
            if error.errno == errno.EAGAIN:
                return True
        else:
            return False
    # Another system, a network disk, or a file of another user.
    return time.time() - os.fstat(file.fileno()).st_mtime < QUIET_SECS
