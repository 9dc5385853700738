"""A program that stands for an agent gone bad: tries to reach what it must not, and prints what came of it as JSON.

`python -I hostile_agent.py FUNCTION ARGUMENTS…`; every function answers with what it got, so that a test can look for
a mark that only the server, its folder or its other processes hold.
"""

import base64
import ctypes
import glob
import json
import mmap
import os
import re
import socket
import stat
import sys
from urllib.parse import quote

libc = ctypes.CDLL(None, use_errno=True)


def tried(call, *arguments):
    """What a call gives, or why it does not."""
    try:
        return call(*arguments)
    except OSError as error:
        return f"refused: {error.strerror}"


def content(path, size=1 << 20):
    with open(path, "rb") as file:
        return file.read(size).decode("utf-8", "replace")


def processes(*parts):
    """Looks for a mark, given in parts, in what the kernel tells of other processes, and through their folders."""
    mark = "".join(parts)
    found = []
    for name in ("environ", "cmdline", "maps", "cwd/packline.toml", "root/etc/shadow", "fd/0"):
        for path in glob.glob(f"/proc/[0-9]*/{name}"):
            if path.split("/")[2] != str(os.getpid()) and mark in str(tried(content, path)):
                found.append(path)
    shadow = [path for path in glob.glob("/proc/[0-9]*/root/etc/shadow") if "root:" in str(tried(content, path))]
    return {"found": found, "shadow": shadow, "seen": len(glob.glob("/proc/[0-9]*"))}


def descriptors():
    """What it was handed open, beyond its three streams."""
    found = (tried(os.readlink, f"/proc/self/fd/{number}") for number in range(3, 256))
    return [name for name in found if not name.startswith("refused")]


def sockets(*names):
    """Connects to sockets by name; `@` stands for the zero an abstract one begins with."""
    reached = []
    for name in names:
        with socket.socket(socket.AF_UNIX) as opened:
            if tried(opened.connect, name.replace("@", "\0", 1)) is None:
                reached.append(name)
    return {"reached": reached}


def others(*pids):
    """Traces, reads and signals processes by their ids, its own parents among them."""
    told = {}
    for pid in {os.getppid(), 1, *map(int, pids)} - {os.getpid()}:
        traced = libc.ptrace(16, pid, 0, 0) == 0  # PTRACE_ATTACH
        if traced:
            libc.ptrace(17, pid, 0, 0)
        told[pid] = {
            "traced": traced,
            "memory": not isinstance(tried(lambda of=pid: open(f"/proc/{of}/mem", "rb").close()), str),
            "signalled": tried(os.kill, pid, 0) is None,
        }
    return told


def devices(*paths):
    """Makes and opens devices, and opens those there are."""
    made = tried(os.mknod, "disk", 0o600 | stat.S_IFBLK, os.makedev(254, 0))
    named = (*glob.glob("/dev/[vsh]d*"), *paths)
    opened = [path for path in named if isinstance(tried(os.open, path, os.O_RDONLY), int)]
    written = [path for path in named if isinstance(tried(os.open, path, os.O_WRONLY), int)]
    return {"made": made, "opened": opened, "written": written}


def kernel():
    """Settings of the kernel, its keys, and rights it should not have."""
    writable = [
        path
        for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/sys/kernel/hostname")
        if isinstance(tried(os.open, path, os.O_WRONLY), int)
    ]
    keys = libc.syscall(250, 11, -3, 0, 0, 0) if os.uname().machine == "x86_64" else -1  # keyctl: read the session's
    line = re.search(r"CapEff:\s*(\w+)", content("/proc/self/status"))
    return {"writable": writable, "keys": keys >= 0, "rights": int(line.group(1), 16) if line else None}


def privileges(path):
    """Becomes more by a file that says so."""
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nid -u\n")
    os.chmod(path, 0o6755)
    return {"mode": oct(os.stat(path).st_mode), "no_new": "NoNewPrivs:\t1" in content("/proc/self/status")}


def room():
    """Writes into every folder it can, until it may not, and says how much that was."""
    told = {}
    for folder in ("/tmp", "/dev/shm", "/dev", "/proc", "/usr", "/usr/bin", "/", "/run", "/var", "/etc", "/root"):
        size, path = 0, f"{folder}/large"
        try:
            with open(path, "wb", buffering=0) as file:
                while size < 600 << 20:
                    size += file.write(bytes(8 << 20))
        except OSError as error:
            told[folder] = [size >> 20, error.strerror]
        else:
            told[folder] = [size >> 20, None]
        tried(os.unlink, path)
    return told


def writes(*paths):
    """Writes into files that are there, through every door."""
    told = {}
    for path in paths:
        ways = {
            "append": lambda path=path: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"hostile"),
            "truncate": lambda path=path: os.truncate(path, 0),
            "link": lambda path=path: os.link(path, "a-link"),
            "rename": lambda path=path: os.rename(path, path + ".gone"),
            "remove": lambda path=path: os.unlink(path),
            "mode": lambda path=path: os.chmod(path, 0o777),
        }
        told[path] = [name for name, way in ways.items() if not isinstance(tried(way), str)]
    return told


def reads(*paths):
    return {path: tried(content, path, 200) for path in paths}


def outputs(kind):
    """Leaves a declared output `out` that is not what it should be."""
    if kind == "hard_link":
        return tried(os.link, "/etc/passwd", "out")
    if kind == "device":
        return tried(os.mknod, "out", 0o600 | stat.S_IFCHR, os.makedev(1, 3))
    if kind == "fifo":
        return tried(os.mkfifo, "out")
    if kind == "socket":
        return tried(socket.socket(socket.AF_UNIX).bind, "out")
    if kind == "link":
        return tried(os.symlink, "/proc/self/environ", "out")
    if kind == "sparse":
        with open("out", "wb") as file:
            return tried(file.truncate, 900 << 20)
    if kind == "many_sparse":
        for number in range(40):
            with open(f"out{number}", "wb") as file:
                file.truncate(100 << 20)
        os.link("out0", "out")
    return None


def swap(seconds):
    """Swaps a declared output between a file and a link out, as fast as it can, in a process that stays."""
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        while True:
            for make in (lambda: os.symlink("/etc/passwd", "new"), lambda: open("new", "w").close()):
                tried(make)
                tried(os.rename, "new", "out")
    with open("out", "w", encoding="utf-8") as file:
        file.write("fine")
    return seconds


def many(count, name="x" * 40):
    for number in range(int(count)):
        open(f"{number}{name}", "w").close()
    return count


def nested(depth):
    """Nests many empty folders of short names."""
    for _ in range(int(depth)):
        os.mkdir("d")
        os.chdir("d")
    return "nested"


def deep(depth, megabytes):
    """A file below more folders than a path can name."""
    for _ in range(int(depth)):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    with open("large", "wb") as file:
        for _ in range(int(megabytes)):
            file.write(bytes(1 << 20))
    return "deep"


def odd_names():
    for name in ("a\nb", "\x1b[2Jc", "-rf", "\u202egnp.exe", "é" * 100, " "):
        with open(name, "w", encoding="utf-8") as file:
            file.write("x")
    os.chmod(" ", 0)
    os.mkdir("closed")
    open("closed/in", "w").close()
    os.chmod("closed", 0)
    return os.listdir(".")


def forms(value):
    """Ways a text may be written that readers undo at a glance."""
    data = value.encode()
    encoded = [base64.b64encode(b"x" * shift + data).decode() for shift in range(3)]
    return [value, quote(value, safe=""), json.dumps(value)[1:-1], json.dumps({"a": value}), data.hex(), *encoded]


def leak(way, *names):
    """Says every secret it was given, in every form and everywhere it can."""
    values = [os.environ[name] for name in names]
    written = [form for value in values for form in forms(value)]
    everything = "\n".join(written)
    if way == "claude":
        for text in written:
            tool = {"type": "tool_use", "id": text, "name": text, "input": {text: [text]}}
            blocks = [{"type": "text", "text": text}, {"type": "thinking", "thinking": text}, tool]
            print(json.dumps({"type": "system", "model": text}))
            print(json.dumps({"type": "assistant", "message": {"content": blocks}}))
            result = {"type": "tool_result", "tool_use_id": text, "content": [{"type": "text", "text": text}]}
            print(json.dumps({"type": "user", "message": {"content": [result]}}))
        usage = {"input_tokens": 1, "output_tokens": 1}
        print(json.dumps({"type": "result", "result": everything, "usage": usage, "permission_denials": [everything]}))
        sys.stdout.flush()
    for letter in everything:
        os.write(1, letter.encode())
    os.write(2, everything.encode() + b"x" * 1970 + values[0].encode())  # across the border of what is kept
    if way == "fail":
        os.write(2, f"\nIt ended at {values[0]}".encode())
        os._exit(3)
    if way == "json":
        os.write(1, json.dumps({"n": everything}).encode())
    with open("clean.txt", "w", encoding="utf-8") as file:
        file.write("clean")
    os._exit(0)


def memory(megabytes):
    with mmap.mmap(-1, int(megabytes) << 20) as held:
        for at in range(0, len(held), 4096):
            held[at] = 1
    return "held"


def main():
    sys.stdin.read()
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])), flush=True)


main()
