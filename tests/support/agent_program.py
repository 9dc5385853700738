"""A program that stands for an agent's command line: does what its arguments say, as real ones might.

`python -I agent_program.py tell` prints what it was given; the other functions misbehave, each in its own way.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise


def tell(prompt: str) -> None:
    print("prompt:", prompt)
    print("variables:", *sorted(name for name in os.environ if name != "LC_CTYPE"))
    print("folder:", os.getcwd())


def say(_: str, *texts: str) -> None:
    print(*texts, end="")


def say_much(_: str, characters: str, kind: str = "raw") -> None:
    """Prints an answer of some length, as text, as a JSON text, or as the result of a stream."""
    text = "y" * (int(characters) - 3) + "end"
    print(
        {"raw": text, "json": json.dumps(text), "claude": json.dumps({"type": "result", "result": text})}[kind], end=""
    )


def fail(_: str, code: str) -> None:
    print("I tried.", flush=True)
    print("No such model.", file=sys.stderr)
    sys.exit(int(code))


def write(_: str, *paths: str) -> None:
    """Writes each path, and says of each how that went."""
    for path in paths:
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write("written")
        except OSError as error:
            print(path, error.strerror)
        else:
            print(path, "ok")


def read(_: str, *paths: str) -> None:
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                print(path, "read", len(file.read()))
        except OSError as error:
            print(path, error.strerror)


def folder(_: str, path: str) -> None:
    """Makes a folder, and prints a character no database takes."""
    os.mkdir(path)
    print("made\0it")


def search(_: str, text: str, *paths: str) -> None:
    """Says of each file whether a text is in it."""
    for path in paths:
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                print(path, "holds it" if text in file.read() else "does not hold it")
        except OSError as error:
            print(path, error.strerror)


def link(_: str, target: str, path: str) -> None:
    os.symlink(target, path)


def spawn(_: str, *command: str) -> None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        print("denied:", error.strerror)
    else:
        print("ran:", done.returncode, done.stdout.strip())


def spawn_from_memory(_: str, program: str, *arguments: str) -> None:
    """Copies a program into a file in memory, which has no path, and runs that."""
    try:
        copy = os.memfd_create("copy", 0)
    except OSError as error:
        print("denied:", error.strerror)
        return
    with open(program, "rb") as source:
        os.write(copy, source.read())
    done = subprocess.run([f"/proc/self/fd/{copy}", *arguments], capture_output=True, text=True, pass_fds=[copy])
    print("ran:", done.returncode, done.stdout.strip())


def open_walls(_: str, folder: str) -> None:
    """Tries to make a folder writable that was mounted read-only."""
    failed = ctypes.CDLL(None, use_errno=True).mount(b"none", folder.encode(), None, 32 | 4096, None)
    print("refused:" if failed else "opened", os.strerror(ctypes.get_errno()) if failed else "")


def show(_: str, *names: str) -> None:
    """Prints variables, one letter at a time, so that no write holds a whole value."""
    for name in names:
        for letter in os.environ.get(name, "(not set)"):
            sys.stdout.write(letter)
            sys.stdout.flush()
        print()


def gemini(_: str, name: str) -> None:
    """Says a variable's value in parts of five letters, as Gemini prints messages."""
    value = os.environ[name]
    for start in range(0, len(value), 5):
        event = {"type": "message", "role": "assistant", "content": value[start : start + 5], "delta": True}
        print(json.dumps(event), flush=True)
    print(json.dumps({"type": "result", "stats": {"input_tokens": 1, "output_tokens": 1}}), flush=True)


def spread(_: str, *names: str) -> None:
    """Tells secrets in pieces, a message each, with calls of a tool between some."""
    for name in names:
        value = os.environ[name]
        for cuts in ([3], [len(value) // 2], [len(value) - 3], [5, 9], range(1, len(value))):
            bounds = [0, *cuts, len(value)]
            for start, end in pairwise(bounds):
                piece = {"type": "text", "text": value[start:end]}
                print(json.dumps({"type": "assistant", "message": {"content": [piece]}}), flush=True)
            heard = [{"type": "tool_result", "tool_use_id": "t", "content": value[: len(value) // 2]}]
            heard += [{"type": "tool_result", "tool_use_id": "t", "content": value[len(value) // 2 :]}]
            print(json.dumps({"type": "user", "message": {"content": heard}}), flush=True)
    print(json.dumps({"type": "result", "result": value[-1:]}), flush=True)


def stay(_: str) -> None:
    """Forks a child that leaves the group, ignores being asked to end, and stays."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("staying", flush=True)
    time.sleep(600)


def flood(_: str, megabytes: str) -> None:
    line = b"x" * 99 + b"\n"
    left = int(megabytes) * 1_000_000
    block = line * 10_000
    while left > 0:
        left -= sys.stdout.buffer.write(block[:left])


def fill(_: str, megabytes: str) -> None:
    with open("large", "wb") as file:
        for _count in range(int(megabytes)):
            file.write(b"x" * 1_000_000)


def leave(_: str, megabytes: str) -> None:
    fill(_, megabytes)
    print("left a large file")


def go_on(_: str, path: str) -> None:
    """Talks until a file is there."""
    number = 0
    while not os.path.exists(path):
        number += 1
        print(f"line {number} of many, which say nothing and have some length all the same", flush=True)
        # It talks slowly, so that the disk is filled by the test and not by it; nothing waits for this.
        time.sleep(0.001)  # paces the output
    print("the end", flush=True)


def connect(_: str, address: str) -> None:
    import socket

    host, _, port = address.partition(":")
    try:
        socket.create_connection((host, int(port)), timeout=2).close()
    except OSError as error:
        print("no network:", type(error).__name__)
    else:
        print("connected")


def solve(_: str) -> None:
    """Does the task of the tests of coding starters, and leaves what was built on the way."""
    os.makedirs("repo/built", exist_ok=True)
    os.makedirs("repo/new", exist_ok=True)
    for path, text in (("lamp.py", "level = 2\n"), ("built/x.o", "x"), ("new/light.txt", "light\n")):
        with open(f"repo/{path}", "w", encoding="utf-8") as file:
            file.write(text)
    subprocess.run(["git", "-C", "repo", "status"], capture_output=True, check=False)
    print("I turned the level up.")


def plant(_: str, mark: str) -> None:
    """Leaves everything in the clone by which Git could be made to run a program, or to ask another address."""
    run = f"touch {mark}"
    hooks = "repo/.git/hooks"
    os.makedirs(hooks, exist_ok=True)
    for name in ("pre-commit", "post-checkout", "pre-push", "post-index-change", "reference-transaction"):
        with open(f"{hooks}/{name}", "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{run}\n")
        os.chmod(f"{hooks}/{name}", 0o755)
    config = f"""[core]
    fsmonitor = {run}
    hooksPath = hooks
    sshCommand = {run}
    editor = {run}
    alternateRefsCommand = {run}
[filter "evil"]
    clean = {run}
    smudge = {run}
    process = {run}
    required = true
[diff "evil"]
    textconv = {run}
    command = {run}
[diff]
    external = {run}
[credential]
    helper = !{run}
[gpg]
    program = {run}
[commit]
    gpgSign = true
[url "http://127.0.0.1:1/stolen/"]
    insteadOf = http://
[remote "origin"]
    url = ext::{run}
"""
    with open("repo/.git/config", "a", encoding="utf-8") as file:
        file.write(config)
    with open("repo/.gitattributes", "w", encoding="utf-8") as file:
        file.write("* filter=evil diff=evil\n")
    with open("repo/lamp.py", "w", encoding="utf-8") as file:
        file.write("level = 2\n")
    os.makedirs("repo/inner/.git/objects")
    os.makedirs("repo/inner/.git/refs")
    for path, text in ((".git/HEAD", "ref: refs/heads/main\n"), (".git/config", config), ("file.txt", "x\n")):
        with open(f"repo/inner/{path}", "w", encoding="utf-8") as file:
            file.write(text)
    os.symlink("/etc/passwd", "repo/out")
    print("Planted.")


def tools(_: str, run_id: str, *names: str) -> None:
    """Calls Packline's tools with what the environment gives, tries the token elsewhere, and leaves it reversed."""
    import urllib.error
    import urllib.request

    url, token = os.environ["PACKLINE_MCP_URL"], os.environ["PACKLINE_MCP_TOKEN"]

    def post(address: str, body: dict) -> str:
        headers = {
            "authorization": f"Bearer {token}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-06-18",
        }
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            return f"HTTP {error.code}"

    def ask(method: str, params: dict) -> str:
        answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        if answer.startswith("HTTP"):
            return answer
        if "data:" in answer:
            answer = next(line[5:] for line in answer.splitlines() if line.startswith("data:") and line[5:].strip())
        result = json.loads(answer).get("result", {})
        if "tools" in result:
            return " ".join(tool["name"] for tool in result["tools"])
        return ("refused " if result.get("isError") else "ok ") + json.dumps(result)[:300]

    print("listed:", ask("tools/list", {}))
    for name in names:
        arguments = {"run_id": run_id} if name in ("get_run", "cancel_run") else {}
        print(f"{name}:", ask("tools/call", {"name": name, "arguments": arguments}))
    print("graphql:", post(url.replace("/mcp", "/graphql"), {"query": "{ viewer { id } }"}))
    print("token:", token)
    with open("token.txt", "w", encoding="utf-8") as file:
        file.write(token[::-1])


def claude(prompt: str, *denied: str) -> None:
    """Prints what `claude -p --output-format stream-json` prints."""
    usage = {"input_tokens": 120, "output_tokens": 30}
    events = [
        {"type": "system", "subtype": "init", "model": "claude-test"},
        {"type": "assistant", "message": {"content": [{"type": "text", "text": "Let me look."}]}},
        {
            "type": "assistant",
            "message": {"content": [{"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.md"}}]},
        },
        {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "t1", "content": "# A"}]}},
        {
            "type": "result",
            "result": f"Answer to: {prompt}",
            "usage": usage,
            "total_cost_usd": 0.0042,
            "num_turns": 2,
            "permission_denials": [{"tool_name": name} for name in denied],
        },
    ]
    for event in events:
        print(json.dumps(event), flush=True)


def ends_early(_: str, kind: str) -> None:
    """Says something in a form whose streams end with a result, and ends without one."""
    said = {"type": "assistant", "message": {"content": [{"type": "text", "text": "I will now look."}]}}
    if kind == "gemini":
        said = {"type": "message", "role": "assistant", "content": "I will now look."}
    print(json.dumps(said), flush=True)


def main() -> None:
    prompt = sys.stdin.read()
    globals()[sys.argv[1]](prompt, *sys.argv[2:])


main()
