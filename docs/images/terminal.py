#!/usr/bin/env python3
"""Makes `terminal.svg`, the picture in the README, from a real run of buddy.

    cargo build -p buddy && cargo build -p buddy-testkit --bin scripted-model
    python3 docs/images/terminal.py [DIRECTORY OF THE PROGRAMS]

buddy runs in tmux, in a small git repository with a failing test, and talks to the scripted model server of
the tests. The script types one prompt, waits for the approval and draws the screen. It needs tmux, git,
bubblewrap and python3, and runs as root, for example in a container, so that the names of account, home and
host are the same everywhere.
"""

import html
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
COLUMNS, ROWS = 96, 40
INSIDE = "/home/ann"
PROMPT = "the test fails, please fix it and push"
PAPER, INK = "#0d1418", "#f2f0ea"
SIXTEEN = ["#20282c", "#ff6b6b", "#8fdca4", "#f6c668", "#90cdf1", "#d5b9f7", "#61d4ca", "#d8d8d2",
           "#66747a", "#ff9e9b", "#b5f0c4", "#ffe0a0", "#b4e0ff", "#e8d5ff", "#9ceae2", "#ffffff"]

PROGRAM = "def total(prices):\n    return sum(prices) - 1\n"
TEST = """from prices import total

found = total([1, 2, 3])
if found != 6:
    raise SystemExit(f"test_total failed: expected 6, got {found}")
print("1 test passed")
"""


def shell(command, why):
    return {"name": "run_shell", "arguments": {
        "command": command, "why": why, "risk": "low", "mutation": False, "privesc": False}}


SCRIPT = {"turns": [
    {"text": "I'll look at the code and run the test.", "tool_calls": [
        {"name": "read_file", "arguments": {"path": "prices.py"}},
        shell("python3 test_prices.py", "see what fails")]},
    {"text": "`total` subtracts one. I'll remove that.", "tool_calls": [
        {"name": "edit_file", "arguments": {
            "path": "prices.py", "old": "return sum(prices) - 1", "new": "return sum(prices)"}}]},
    {"tool_calls": [shell("python3 test_prices.py && git commit -qam 'Fix the total'", "check the fix and commit it")]},
    {"text": "The test passes and the fix is committed.", "tool_calls": [
        shell("git push origin main", "publish the fix")]},
]}


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def repository(home):
    """A repository with a failing test and a remote beside it."""
    app, remote = home / "home/app", home / "home/remote.git"
    run("git", "init", "-q", "--bare", "-b", "main", str(remote))
    run("git", "init", "-q", "-b", "main", str(app))
    (app / "prices.py").write_text(PROGRAM)
    (app / "test_prices.py").write_text(TEST)
    (app / ".gitignore").write_text("__pycache__/\n")
    for line in (["config", "user.name", "Ann"], ["config", "user.email", "ann@example.com"],
                 ["remote", "add", "origin", f"{INSIDE}/remote.git"], ["add", "-A"], ["commit", "-qm", "Add prices"]):
        run("git", "-C", str(app), *line)


def inside(home, programs):
    """The start of a command line that runs as `ann` on `atlas`, with the programs in `/mnt`."""
    (home / "passwd").write_text(f"ann:x:0:0::{INSIDE}:/bin/sh\n")
    lines = ["hostname atlas", "mount -t tmpfs none /home", f"mkdir {INSIDE}", f"mount --bind {home}/home {INSIDE}",
             f"mount --bind {home}/passwd /etc/passwd", f"mount --bind {programs} /mnt", f"cd {INSIDE}/app"]
    return ["unshare", "--mount", "--uts", "sh", "-c", " && ".join([*lines, 'exec "$@"']), "sh"]


def screen(programs, home):
    """The screen at the moment of the approval, with its escape sequences."""
    (home / "script.json").write_text(json.dumps(SCRIPT))
    server = subprocess.Popen([str(programs / "scripted-model"), str(home / "script.json")],
                              stdout=subprocess.PIPE, text=True)
    tmux = ("tmux", "-S", str(home / "tmux"))
    variables = {"HOME": INSIDE, "COLORTERM": "truecolor", "LANG": "C.UTF-8", "TERM": "tmux-256color",
                 "PATH": "/usr/local/bin:/usr/bin:/bin",
                 "BUDDY_BASE_URL": server.stdout.readline().strip(), "BUDDY_MODEL": "scripted"}
    try:
        repository(home)
        run(*tmux, "-f", "/dev/null", "new-session", "-d", "-x", str(COLUMNS), "-y", str(ROWS),
            *inside(home, programs), "env", "-i", *(f"{name}={value}" for name, value in variables.items()),
            "/mnt/buddy", "--trust", "-c", "display.theme=dark", "-c", "display.motion=false")
        wait_for(tmux, "scripted")
        run(*tmux, "send-keys", "-l", PROMPT)
        run(*tmux, "send-keys", "Enter")
        wait_for(tmux, "git push origin main")
        time.sleep(2)  # the rows below the question are painted after it
        return run(*tmux, "capture-pane", "-p", "-e")
    finally:
        server.kill()
        subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)


def wait_for(tmux, text):
    for _ in range(300):
        if text in run(*tmux, "capture-pane", "-p"):
            return
        time.sleep(0.1)
    sys.exit(f"`{text}` did not appear on the screen:\n" + run(*tmux, "capture-pane", "-p"))


def palette(number):
    if number < 16:
        return SIXTEEN[number]
    if number >= 232:
        return "#" + f"{8 + (number - 232) * 10:02x}" * 3
    steps = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])


class Style:
    def __init__(self):
        self.reset()

    def reset(self):
        self.front = self.back = None
        self.on = set()

    def apply(self, codes):
        names = {1: "bold", 2: "dim", 3: "italic", 4: "underline", 7: "reverse"}
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in names:
                self.on.add(names[code])
            elif code == 22:
                self.on -= {"bold", "dim"}
            elif code in (23, 24, 27):
                self.on.discard(names[code - 20])
            elif code in (38, 48):
                kind = codes.pop(0)
                colour = palette(codes.pop(0)) if kind == 5 else "#%02x%02x%02x" % tuple(codes.pop(0) for _ in range(3))
                self.front, self.back = (colour, self.back) if code == 38 else (self.front, colour)
            elif code == 39:
                self.front = None
            elif code == 49:
                self.back = None
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.front = SIXTEEN[code - 30 if code < 90 else code - 82]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.back = SIXTEEN[code - 40 if code < 100 else code - 92]

    def drawn(self):
        front, back = self.front or INK, self.back
        if "reverse" in self.on:
            front, back = back or PAPER, front
        return front, back, tuple(sorted(self.on & {"bold", "dim", "italic", "underline"}))


def runs(line, style):
    """The parts of a line that look the same: column, text, style. A style lasts beyond the end of a line."""
    column, found = 0, []
    for part in re.split(r"(\x1b\[[0-9;:]*m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\))", line):
        if part.startswith("\x1b["):
            style.apply([int(code or 0) for code in re.split("[;:]", part[2:-1])])
        elif part and not part.startswith("\x1b"):
            found.append((column, part, style.drawn()))
            column += len(part)
    return found


def svg(text):
    wide, high, pad = 8.4, 18, 16
    lines = text.rstrip().split("\n")
    width, height = COLUMNS * wide + 2 * pad, len(lines) * high + 2 * pad
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'height="{height:.0f}" font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" '
           'font-size="14" xml:space="preserve">',
           "<!-- generated by docs/images/terminal.py from a real run; do not edit -->",
           f'<rect width="100%" height="100%" rx="10" fill="{PAPER}"/>']
    style = Style()
    for row, line in enumerate(lines):
        for column, part, (front, back, on) in runs(line, style):
            x, y, length = pad + column * wide, pad + row * high, len(part) * wide
            if back:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{length:.1f}" height="{high}" fill="{back}"/>')
            if part.strip():
                more = {"bold": ' font-weight="bold"', "dim": ' opacity="0.65"', "italic": ' font-style="italic"',
                        "underline": ' text-decoration="underline"'}
                out.append(f'<text x="{x:.1f}" y="{y + 13.5}" textLength="{length:.1f}" fill="{front}"'
                           f'{"".join(more[name] for name in on)}>{html.escape(part)}</text>')
    return "\n".join([*out, "</svg>", ""])


def main():
    root = HERE.parent.parent
    programs = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "target/debug"
    with tempfile.TemporaryDirectory(prefix="buddy-picture-") as place:
        text = screen(programs.resolve(), Path(place))
    if "--text" in sys.argv:
        print(text)
    (HERE / "terminal.svg").write_text(svg(text))


if __name__ == "__main__":
    main()
