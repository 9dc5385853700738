"""Holds a process and what it starts to a list of programs and folders, then becomes the program (Landlock).

`python -I -S confine.py '{"execute": [...], "write": [...]}' PROGRAM ARGUMENTS…`. It is a script of its own: it runs
inside the sandbox before anything of ours could be imported. A kernel without Landlock is told of by exit code 96.
"""

import ctypes
import json
import os
import struct
import sys

#: Exit code when the kernel cannot do what is asked for; nothing was run.
CANNOT = 96

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
_SET_SECCOMP, _FILTER = 22, 2
#: linux/bpf_common.h and linux/seccomp.h: load a word, mask it, compare it, answer.
_LOAD, _AND, _EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _ANSWER, _ENOSYS = 0x7FFF0000, 0x00050000, 38
#: The bit that marks x32 calls on x86-64; no call of any architecture has so high a number.
_X32 = 1 << 30
#: Architecture (linux/audit.h) and number of `memfd_create`: x86-64, i386, AArch64 and RISC-V, 32-bit Arm.
_MEMFD_CREATE = (
    (0xC000003E, 319),
    (0x40000003, 356),
    (0xC00000B7, 279),
    (0xC00000F3, 279),
    (0x40000028, 385),
)
_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
#: Making, removing and linking of every kind of file, and (from ABI 2 and 3) moving between folders and truncating.
_CHANGE = _WRITE_FILE | sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14


def main() -> None:
    """Applies the rules and becomes the program."""
    rules = json.loads(sys.argv[1])
    argv = sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(_CREATE, None, 0, 1)
    if abi < 1:
        sys.stderr.write("This kernel has no Landlock.\n")
        sys.exit(CANNOT)
    change = _CHANGE | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)
    execute, write = rules.get("execute"), rules.get("write")
    handled = (0 if execute is None else _EXECUTE) | (0 if write is None else change)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if handled:
        attributes = struct.pack("=Q", handled)
        ruleset = libc.syscall(_CREATE, attributes, len(attributes), 0)
        if ruleset < 0:
            sys.exit(CANNOT)
        for path in execute or ():
            _add(libc, ruleset, path, _EXECUTE)
        for path in write or ():
            _add(libc, ruleset, path, change)
        if libc.syscall(_RESTRICT, ruleset, 0) != 0:
            sys.exit(CANNOT)
        os.close(ruleset)
    if execute is not None:
        _refuse_memory_files(libc)
    os.execv(argv[0], argv)


def _refuse_memory_files(libc: ctypes.CDLL) -> None:
    """Has the kernel answer `memfd_create` with "not implemented" (seccomp).

    Landlock rules are about paths. A file in memory has none and can always be executed, whatever was copied into it.
    """
    code = [(_LOAD, 0, 0, 4)]  # seccomp_data.arch
    for architecture, number in _MEMFD_CREATE:
        # Of this architecture: look at the number, x32 calls included, and answer; else go on.
        code += [(_EQUAL, 0, 4, architecture), (_LOAD, 0, 0, 0), (_AND, 0, 0, ~_X32 & 0xFFFFFFFF)]
        code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ANSWER | _ENOSYS)]
        code += [(_LOAD, 0, 0, 4)]
    code += [(_RETURN, 0, 0, _ALLOW)]
    text = b"".join(struct.pack("=HBBI", *line) for line in code)
    program = ctypes.create_string_buffer(text, len(text))
    filled = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(program)))
    if libc.prctl(_SET_SECCOMP, _FILTER, filled, 0, 0) != 0:
        sys.stderr.write("This kernel has no seccomp filters.\n")
        sys.exit(CANNOT)


def _add(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what is not there cannot be run or written
    if not os.path.isdir(path):
        access &= _EXECUTE | _WRITE_FILE | _TRUNCATE
    libc.syscall(_ADD, ruleset, _PATH_BENEATH, struct.pack("=Qi", access, file), 0)
    os.close(file)


if __name__ == "__main__":
    main()
