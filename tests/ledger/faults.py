"""A disk that is full, or that cannot sync: the kernel refuses the calls, for this process.

A seccomp filter answers them with an error, as a failing disk would. It cannot be taken back,
so it is for processes that end soon. It needs no privilege, and Linux on a common processor.
"""

import ctypes
import errno
import platform
import struct

_CALLS = {
    "x86_64": {"pwrite64": 18, "fallocate": 285, "pwritev": 296, "ftruncate": 77}
    | {"msync": 26, "fsync": 74, "fdatasync": 75},
    "aarch64": {"pwrite64": 68, "fallocate": 47, "pwritev": 70, "ftruncate": 46}
    | {"msync": 227, "fsync": 82, "fdatasync": 83},
}
FAULTS = {
    "disk full": (errno.ENOSPC, ("pwrite64", "fallocate", "pwritev", "ftruncate")),
    "failed sync": (errno.EIO, ("msync", "fsync", "fdatasync")),
}
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]


def refuse(fault):
    """From now on the kernel refuses what this fault breaks."""
    error, names = FAULTS[fault]
    numbers = [_CALLS[platform.machine()][name] for name in names]
    steps = [(_LOAD, 0, 0, 0)]  # the call's number
    for place, number in enumerate(numbers):
        steps.append((_JUMP_IF_EQUAL, len(numbers) - place, 0, number))
    steps += [(_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERROR | error)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = _Program(len(steps), ctypes.cast(text, ctypes.c_void_p))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        _SECCOMP, _FILTER, ctypes.byref(program)
    ):
        raise OSError(ctypes.get_errno(), "seccomp is not available")
