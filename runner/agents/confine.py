"""Restricts this process to lists of programs and folders, then executes a program (Landlock, seccomp).

`python -I -S confine.py '{"execute": [...], "read": [...], "write": [...]}' PROGRAM ARGUMENTS…`; an absent list
restricts nothing. Independently of the lists, signals and abstract sockets cannot leave the confinement if the kernel
supports that, and the kernel's keyrings and root's rights over other users' files are unavailable. It is a separate
script because it runs inside the sandbox, which does not have Packline. Exit code 96 means a kernel without Landlock.
"""

import ctypes
import json
import os
import struct
import sys

#: Exit code if the kernel lacks a feature; nothing was run.
CANNOT = 96

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_NO_NEW_PRIVS = 38
_SET_SECCOMP, _FILTER = 22, 2
_DROP_BOUND, _AMBIENT, _CLEAR_ALL = 24, 47, 4
_CAPABILITY_VERSION = 0x20080522
#: linux/bpf_common.h and linux/seccomp.h: load a word, mask it, compare it, answer.
_LOAD, _AND, _EQUAL, _RETURN = 0x20, 0x54, 0x15, 0x06
_ALLOW, _ANSWER, _ENOSYS = 0x7FFF0000, 0x00050000, 38
#: The bit that marks x32 calls on x86-64; no call of any architecture has so high a number.
_X32 = 1 << 30
#: Architecture (linux/audit.h) and numbers of `memfd_create`, then of `add_key`, `request_key` and `keyctl`: x86-64,
#: i386, AArch64, RISC-V, 32-bit Arm.
_CALLS = (
    (0xC000003E, 319, (248, 249, 250)),
    (0x40000003, 356, (286, 287, 288)),
    (0xC00000B7, 279, (217, 218, 219)),
    (0xC00000F3, 279, (217, 218, 219)),
    (0x40000028, 385, (309, 310, 311)),
)
_EXECUTE = 1 << 0
_WRITE_FILE = 1 << 1
_READ_FILE, _READ_FOLDER = 1 << 2, 1 << 3
#: Making (all but devices), removing and linking of files; from ABI 2 and 3 moving between folders and truncating.
_CHANGE = _WRITE_FILE | sum(1 << bit for bit in (4, 5, 7, 8, 9, 10, 12))
_MAKE_DEVICE = 1 << 6 | 1 << 11
_REFER, _TRUNCATE = 1 << 13, 1 << 14
#: From ABI 6: no abstract sockets and no signals across the border.
_SCOPES = 1 << 0 | 1 << 1


def main() -> None:
    """Apply the rules and become the program."""
    rules = json.loads(sys.argv[1])
    argv = sys.argv[2:]
    libc = ctypes.CDLL(None, use_errno=True)
    abi = libc.syscall(_CREATE, None, 0, 1)
    if abi < 1 and rules:
        sys.stderr.write("This kernel has no Landlock.\n")
        sys.exit(CANNOT)
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    _hold(libc, abi, rules)
    _refuse_calls(libc, memory_files="execute" in rules)
    _drop_rights(libc)
    os.execv(argv[0], argv)


def _hold(libc: ctypes.CDLL, abi: int, rules: dict[str, list[str]]) -> None:
    """Restrict this process and its children to the lists."""
    change = _CHANGE | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0)
    rights = {"execute": _EXECUTE, "read": _READ_FILE | _READ_FOLDER, "write": change}
    handled = sum(rights[name] for name in rules) | (_MAKE_DEVICE if "write" in rules else 0)
    scopes = _SCOPES if abi >= 6 else 0
    if not handled and not scopes:
        return
    attributes = struct.pack("=QQQ", handled, 0, scopes)[: 24 if scopes else 8]
    ruleset = libc.syscall(_CREATE, attributes, len(attributes), 0)
    if ruleset < 0:
        sys.exit(CANNOT)
    for name, paths in rules.items():
        for path in paths:
            _add(libc, ruleset, path, rights[name])
    if libc.syscall(_RESTRICT, ruleset, 0) != 0:
        sys.exit(CANNOT)
    os.close(ruleset)


def _refuse_calls(libc: ctypes.CDLL, *, memory_files: bool) -> None:
    """Make the kernel answer some calls with "not implemented" (seccomp).

    Kernel keys belong to a user or a session, which the sandbox does not change. And Landlock rules are about paths: a
    file in memory has none, so any program copied into it could be executed.
    """
    code = [(_LOAD, 0, 0, 4)]  # seccomp_data.arch
    for architecture, memfd_create, keys in _CALLS:
        refused = (*keys, memfd_create) if memory_files else keys
        # For this architecture, compare the number, also of x32 calls; else continue with the next one.
        code += [(_EQUAL, 0, 2 * len(refused) + 2, architecture), (_LOAD, 0, 0, 0), (_AND, 0, 0, ~_X32 & 0xFFFFFFFF)]
        for number in refused:
            code += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _ANSWER | _ENOSYS)]
        code += [(_LOAD, 0, 0, 4)]
    code += [(_RETURN, 0, 0, _ALLOW)]
    text = b"".join(struct.pack("=HBBI", *line) for line in code)
    program = ctypes.create_string_buffer(text, len(text))
    filled = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(program)))
    if libc.prctl(_SET_SECCOMP, _FILTER, filled, 0, 0) != 0:
        sys.stderr.write("This kernel has no seccomp filters.\n")
        sys.exit(CANNOT)


def _drop_rights(libc: ctypes.CDLL) -> None:
    """Drop all capabilities for good: "no new privileges" is set.

    Root could otherwise create devices and inspect other processes in spite of Landlock.
    """
    for number in range(64):
        libc.prctl(_DROP_BOUND, number, 0, 0, 0)
    libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24))


def _add(libc: ctypes.CDLL, ruleset: int, path: str, access: int) -> None:
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a missing file needs no rule
    if not os.path.isdir(path):
        access &= _EXECUTE | _WRITE_FILE | _TRUNCATE | _READ_FILE
    libc.syscall(_ADD, ruleset, _PATH_BENEATH, struct.pack("=Qi", access, file), 0)
    os.close(file)


if __name__ == "__main__":
    main()
