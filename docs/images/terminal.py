#!/usr/bin/env python3
"""Draws pictures of buddy's screen from real runs.

    cargo build -p buddy && cargo build -p buddy-testkit --bin scripted-model
    python3 docs/images/terminal.py                       # terminal.svg, the picture in the README
    python3 docs/images/terminal.py --out DIR --png       # every scene below, as SVG and PNG, in DIR
    python3 docs/images/terminal.py --out DIR host light  # these scenes

buddy runs in tmux, in a small git repository with a failing test, and talks to the scripted model server of the
tests. The script types, waits for words on the screen and draws it. It needs tmux, git, bubblewrap and python3, for
`--png` also rsvg-convert, and runs as root, for example in a container, so that the names of account, home and host
are the same everywhere.
"""

import argparse
import html
import json
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
INSIDE = "/home/ann"
REMOTE = "https://git.example.org/ann/app.git"
# The ground and the ink of the terminal, and its sixteen colours.
DARK = ("#0d1418", "#f2f0ea", [
    "#20282c", "#ff6b6b", "#8fdca4", "#f6c668", "#90cdf1", "#d5b9f7", "#61d4ca", "#d8d8d2",
    "#66747a", "#ff9e9b", "#b5f0c4", "#ffe0a0", "#b4e0ff", "#e8d5ff", "#9ceae2", "#ffffff"])
LIGHT = ("#fbf9f4", "#1b2226", [
    "#1b2226", "#b3131d", "#156234", "#7d4b05", "#1d5e85", "#6b3d97", "#006f68", "#d8d8d2",
    "#66747a", "#cb1c29", "#1d7a44", "#9a6210", "#1655a7", "#8450b5", "#007a73", "#ffffff"])

PROGRAM = "def total(prices):\n    return sum(prices) - 1\n"
TEST = """from prices import total

found = total([1, 2, 3])
if found != 6:
    raise SystemExit(f"test_total failed: expected 6, got {found}")
print("1 test passed")
"""
VERSIONS = """from urllib.request import urlopen

print(urlopen("https://packages.example.com/index.json").read().decode())
"""


def shell(command, why):
    return {"name": "run_shell", "arguments": {
        "command": command, "why": why, "risk": "low", "mutation": False, "privesc": False}}


FIX = [
    {"text": "I'll look at the code and run the test.", "tool_calls": [
        {"name": "read_file", "arguments": {"path": "prices.py"}},
        shell("python3 test_prices.py", "see what fails")]},
    {"text": "`total` subtracts one. I'll remove that.", "tool_calls": [
        {"name": "edit_file", "arguments": {
            "path": "prices.py", "old": "return sum(prices) - 1", "new": "return sum(prices)"}}]},
]
COMMIT = {"tool_calls": [shell("python3 test_prices.py && git commit -qam 'Fix the total'", "check the fix and commit it")]}
PUSH = {"text": "The test passes and the fix is committed.", "tool_calls": [
    shell("git push origin main", "publish the fix")]}
DONE = {"text": "Fixed. `total` now adds up all prices, and the test passes."}


ANSWER = """Two places copy the whole input. The profile of a 40 MB file:

| function | time | share | cause |
|---|---|---|---|
| `Lexer::new` | 1.84 s | 61% | clones the source into a String |
| `Parser::peek` | 0.71 s | 24% | allocates a token per look-ahead |

Borrow the source instead of owning it:

```rust
pub struct Lexer<'a> {
    source: &'a str,   // was: String
    offset: usize,
}
```

1. Change `Lexer::new` to take `&str`
2. Return `Option<&Token>` from `peek`
   - callers that need to keep a token clone it
3. Cache line starts once, so `Span::line` is a binary search instead of a walk from the start of the file
"""


@dataclass
class Scene:
    """One picture: the model's answers, and the keys and the words on the screen that lead to it."""
    turns: list
    # A text is typed, `wait:WORDS` waits for words, `key:NAME` presses a key.
    steps: list
    options: list = field(default_factory=list)
    theme: str = "dark"
    size: tuple = (96, 34)
    has_model: bool = True


READY = "wait:scripted"
FIXING = [READY, "the test fails, please fix it and push", "key:Enter"]
ASK = ["--approve", "ask"]
SCENES = {
    "first-start": Scene([], ["wait:Connect a model", "wait:esc demo"], has_model=False),
    "greeting": Scene([], [READY], size=(96, 12)),
    "command": Scene([*FIX, COMMIT, PUSH], [*FIXING, "wait:git push origin main", "wait:Details"], size=(96, 40)),
    "diff": Scene(FIX, [READY, "the test fails, please fix it", "key:Enter", "wait:Run this command?", "key:y",
                        "wait:Edit prices.py?", "wait:Details"], ASK),
    "host": Scene([{"text": "I'll fetch the list of packages.", "tool_calls": [
        shell("python3 versions.py", "see which versions there are")]}, DONE],
        [READY, "which versions are there?", "key:Enter", "wait:wants to reach", "wait:Details"]),
    "high": Scene([{"text": "I'll publish the rebased branch.", "tool_calls": [
        shell("rm -rf build && git push --force origin main", "clear the old build and publish the branch")]}, DONE],
        [READY, "publish it", "key:Enter", "wait:Run this command?", "wait:Details"]),
    "turn-end": Scene([*FIX, COMMIT, DONE], [READY, "the test fails, please fix it", "key:Enter",
                                             "wait:the test passes.", "wait:/undo", "wait:Ask buddy"]),
    "undo": Scene([*FIX, DONE], [READY, "the test fails, please fix it", "key:Enter", "wait:/undo", "wait:Ask buddy",
                                 "/undo", "key:Enter", "wait:restored"]),
    "picker": Scene([], [READY, "/approve", "key:Enter", "wait:Type to search", "wait:esc close"]),
    "menu": Scene([], [READY, "/co", "wait:complete"], size=(96, 18)),
}
SCENES |= {
    "batch": Scene([{"text": "I'll rename the function everywhere. One of the files runs on every commit.", "tool_calls": [
        {"name": "edit_file", "arguments": {"path": "prices.py", "old": "def total(prices):", "new": "def sum_of(prices):"}},
        {"name": "edit_file", "arguments": {"path": "test_prices.py", "old": "total", "new": "sum_of", "all": True}},
        {"name": "write_file", "arguments": {"path": ".githooks/pre-commit", "content": "#!/bin/sh\npython3 test_prices.py\n"}}]}, DONE],
        [READY, "rename total to sum_of everywhere", "key:Enter", "wait:Choose"], ASK, size=(96, 44)),
    "plan": Scene([{"text": "The change is small. I'll keep a plan.", "tool_calls": [
        {"name": "update_plan", "arguments": {"steps": [
            {"text": "Read the code", "state": "done"}, {"text": "Fix the total", "state": "active"},
            {"text": "Run the test", "state": "pending"}, {"text": "Commit", "state": "pending"}]}},
        {"name": "read_file", "arguments": {"path": "prices.py"}},
        shell("sleep 30", "wait for the test database")]}, DONE],
        [READY, "the test fails, please fix it", "key:Enter", "wait:Plan  1 of 4", "wait:sleep 30"], ["--approve", "all"]),
    "question": Scene([{"text": "Two programs use the list of prices, so it matters where the cache lives.", "tool_calls": [
        {"name": "read_file", "arguments": {"path": "prices.py"}},
        {"name": "ask_user", "arguments": {"question": "Where should the cache live?", "options": [
            "In memory: fast, gone on restart; nothing to configure", "On disk, in ~/.cache/app: survives restarts; needs eviction",
            "Redis: shared by both programs; adds a dependency"]}}]}, DONE],
        [READY, "add a cache for the prices", "key:Enter", "wait:Something else", "wait:Let buddy decide", "key:Down"]),
    "sandbox": Scene([{"text": "I'll register the package.", "tool_calls": [
        shell("cp prices.py ~/shared/prices.py", "put it where the other projects find it")]}, DONE],
        [READY, "register the package", "key:Enter", "wait:Details"]),
    "steering": Scene([*FIX[:1], {"text": "Now the whole suite.", "tool_calls": [shell("sleep 30", "run the suite")]}, DONE],
        [READY, "the test fails, please fix it", "key:Enter", "wait:sleep 30", "use the fixture, don't start a server", "key:Enter",
         "then add a line to the changelog", "key:Tab", "wait:queued", "and keep it short"], ["--approve", "all"]),
    "streaming": Scene([{"text": ANSWER, "chunk_chars": 6, "chunk_delay_ms": 150}],
        [READY, "why is the parser slow on large files?", "key:Enter", "wait:Cache line starts"], size=(96, 40)),
}
SCENES["light"] = Scene(SCENES["command"].turns, SCENES["command"].steps, theme="light", size=(96, 40))
SCENES["diff-light"] = Scene(SCENES["diff"].turns, SCENES["diff"].steps, ASK, theme="light")


def run(*command, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, **more).stdout


def repository(home):
    """A repository with a failing test and a remote that no scene reaches."""
    app = home / "home/app"
    (home / "home/shared").mkdir(parents=True)
    run("git", "init", "-q", "-b", "main", str(app))
    (app / "prices.py").write_text(PROGRAM)
    (app / "test_prices.py").write_text(TEST)
    (app / "versions.py").write_text(VERSIONS)
    (app / ".gitignore").write_text("__pycache__/\n")
    for line in (["config", "user.name", "Ann"], ["config", "user.email", "ann@example.com"],
                 ["remote", "add", "origin", REMOTE], ["add", "-A"], ["commit", "-qm", "Add prices"]):
        run("git", "-C", str(app), *line)


def inside(home, programs):
    """The start of a command line that runs as `ann` on `atlas`, with the programs in `/mnt`."""
    (home / "passwd").write_text(f"ann:x:0:0::{INSIDE}:/bin/sh\n")
    lines = ["hostname atlas", "mount -t tmpfs none /home", f"mkdir {INSIDE}", f"mount --bind {home}/home {INSIDE}",
             f"mount --bind {home}/passwd /etc/passwd", f"mount --bind {programs} /mnt", f"cd {INSIDE}/app"]
    return ["unshare", "--mount", "--uts", "sh", "-c", " && ".join([*lines, 'exec "$@"']), "sh"]


def screen(programs, home, scene):
    """The screen at the end of a scene, with its escape sequences."""
    (home / "script.json").write_text(json.dumps({"turns": scene.turns}))
    server = subprocess.Popen([str(programs / "scripted-model"), str(home / "script.json")],
                              stdout=subprocess.PIPE, text=True)
    tmux = ("tmux", "-S", str(home / "tmux"))
    variables = {"HOME": INSIDE, "COLORTERM": "truecolor", "LANG": "C.UTF-8", "TERM": "tmux-256color",
                 "PATH": "/usr/local/bin:/usr/bin:/bin"}
    address = server.stdout.readline().strip()
    if scene.has_model:
        variables |= {"BUDDY_BASE_URL": address, "BUDDY_MODEL": "scripted"}
    try:
        repository(home)
        columns, rows = scene.size
        run(*tmux, "-f", "/dev/null", "new-session", "-d", "-x", str(columns), "-y", str(rows),
            *inside(home, programs), "env", "-i", *(f"{name}={value}" for name, value in variables.items()),
            "/mnt/buddy", *(["--trust"] if scene.has_model else []), "-c", f"display.theme={scene.theme}",
            "-c", "display.motion=false", "-c", "tmux.enabled=false", *scene.options)
        for step in scene.steps:
            kind, _, words = step.partition(":")
            if kind == "wait":
                wait_for(tmux, words)
            elif kind == "key":
                # An answer counts once you have stopped typing for half a second.
                time.sleep(1 if len(words) == 1 else 0)
                run(*tmux, "send-keys", words)
            else:
                run(*tmux, "send-keys", "-l", step)
        time.sleep(1)  # the rows below the last words are painted after them
        return run(*tmux, "capture-pane", "-p", "-e", "-N")
    finally:
        server.kill()
        end(tmux)


def end(tmux):
    """Ends the terminal, and waits for buddy, which still writes to its home."""
    shown = subprocess.run([*tmux, "list-panes", "-a", "-F", "#{pane_pid}"], check=False, capture_output=True, text=True)
    subprocess.run([*tmux, "kill-server"], check=False, capture_output=True)
    for process in shown.stdout.split():
        while Path("/proc", process).exists():
            time.sleep(0.05)


def wait_for(tmux, text):
    for _ in range(300):
        if text in run(*tmux, "capture-pane", "-p"):
            return
        time.sleep(0.1)
    sys.exit(f"`{text}` did not appear on the screen:\n" + run(*tmux, "capture-pane", "-p"))


def palette(number, sixteen):
    if number < 16:
        return sixteen[number]
    if number >= 232:
        return "#" + f"{8 + (number - 232) * 10:02x}" * 3
    steps = (0, 95, 135, 175, 215, 255)
    number -= 16
    return "#%02x%02x%02x" % (steps[number // 36], steps[number // 6 % 6], steps[number % 6])


class Style:
    def __init__(self, colours):
        self.paper, self.ink, self.sixteen = colours
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
                colour = palette(codes.pop(0), self.sixteen) if kind == 5 else "#%02x%02x%02x" % tuple(codes.pop(0) for _ in range(3))
                self.front, self.back = (colour, self.back) if code == 38 else (self.front, colour)
            elif code == 39:
                self.front = None
            elif code == 49:
                self.back = None
            elif 30 <= code <= 37 or 90 <= code <= 97:
                self.front = self.sixteen[code - 30 if code < 90 else code - 82]
            elif 40 <= code <= 47 or 100 <= code <= 107:
                self.back = self.sixteen[code - 40 if code < 100 else code - 92]

    def drawn(self):
        front, back = self.front or self.ink, self.back
        if "reverse" in self.on:
            front, back = back or self.paper, front
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


# Characters that are drawn, as fonts leave gaps between them: left, top, width and height in parts of a cell.
SHAPES = {"▌": (0, 0, 0.5, 1), "▔": (0, 0, 1, 0.125), "▀": (0, 0, 1, 0.5), "▄": (0, 0.5, 1, 0.5),
          "─": (0, 0.47, 1, 0.06), "━": (0, 0.44, 1, 0.12)}


def shape(found, x, y, cell, colour, on):
    """The rectangle for a run of one such character."""
    if found[1] not in SHAPES:
        return []
    (wide, high), (left, top, width, height) = cell, SHAPES[found[1]]
    x, length = x + (found.start() + left) * wide, (len(found[0]) - 1 + width) * wide
    dim = ' opacity="0.65"' if "dim" in on else ""
    return [f'<rect x="{x:.1f}" y="{y + top * high:.1f}" width="{length:.1f}" height="{height * high:.1f}" '
            f'fill="{colour}"{dim} shape-rendering="crispEdges"/>']


def svg(text, scene):
    wide, high, pad = 8.4, 18, 16
    lines = text.rstrip().split("\n")
    style = Style(LIGHT if scene.theme == "light" else DARK)
    width, height = scene.size[0] * wide + 2 * pad, len(lines) * high + 2 * pad
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
           f'height="{height:.0f}" font-family="ui-monospace, \'DejaVu Sans Mono\', Menlo, Consolas, monospace" '
           'font-size="14" xml:space="preserve">',
           "<!-- generated by docs/images/terminal.py from a real run; do not edit -->",
           f'<rect width="100%" height="100%" rx="10" fill="{style.paper}"/>']
    for row, line in enumerate(lines):
        for column, part, (front, back, on) in runs(line, style):
            x, y, length = pad + column * wide, pad + row * high, len(part) * wide
            if back:
                out.append(f'<rect x="{x:.1f}" y="{y}" width="{length:.1f}" height="{high}" fill="{back}" shape-rendering="crispEdges"/>')
            for found in re.finditer(r"(.)\1*", part):
                out.extend(shape(found, x, y, (wide, high), front, on))
            text = "".join(" " if letter in SHAPES else letter for letter in part)
            if text.strip():
                more = {"bold": ' font-weight="bold"', "dim": ' opacity="0.65"', "italic": ' font-style="italic"',
                        "underline": ' text-decoration="underline"'}
                out.append(f'<text x="{x:.1f}" y="{y + 13.5}" textLength="{length:.1f}" fill="{front}"'
                           f'{"".join(more[name] for name in on)}>{html.escape(text)}</text>')
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description="Draw pictures of buddy's screen from real runs.")
    parser.add_argument("scenes", nargs="*", choices=[[], *SCENES], help="scenes to draw [default: all]")
    parser.add_argument("--programs", type=Path, help="directory of the programs [default: target/debug]")
    parser.add_argument("--out", type=Path, help="directory for the pictures [default: the README's picture alone]")
    parser.add_argument("--png", action="store_true", help="also write PNG pictures")
    parser.add_argument("--text", action="store_true", help="also print the screens")
    wishes = parser.parse_args()
    programs = (wishes.programs or HERE.parent.parent / "target/debug").resolve()
    names = (wishes.scenes or list(SCENES)) if wishes.out else ["command"]
    for name in names:
        scene = SCENES[name]
        with tempfile.TemporaryDirectory(prefix="buddy-picture-") as place:
            text = screen(programs, Path(place), scene)
        if wishes.text:
            print(text)
        path = wishes.out / f"{name}.svg" if wishes.out else HERE / "terminal.svg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(svg(text, scene))
        if wishes.png:
            run("rsvg-convert", str(path), "-o", str(path.with_suffix(".png")))
        print(path, file=sys.stderr)


if __name__ == "__main__":
    main()
