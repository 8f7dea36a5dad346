"""The command of a run in the environment of a task, and the CPU time that it took."""

import shlex

BINARY = "/usr/local/bin/buddy"
SCRIPTED_MODEL = "/installed-agent/scripted-model"
SCRIPT = "/installed-agent/script.json"

EVENTS = "buddy.jsonl"
CPU_TIMES = "cpu-times.txt"

# Exit codes of runs that came to an end, which the task's tests judge: success, a limit, a budget, a denied call, a timeout.
ENDED = (0, 3, 4, 5, 124)


def build_command(instruction: str, logs_dir: str, flags: str, binary: str = BINARY) -> str:
    """The shell command of a run. It prints only the result; the events go to a file, also of a run that is killed."""
    events = shlex.quote(f"{logs_dir}/{EVENTS}")
    times = shlex.quote(f"{logs_dir}/{CPU_TIMES}")
    words = f"{shlex.quote(binary)} exec --throwaway --json {flags} -- {shlex.quote(instruction)}"
    # `times` of a shell that started nothing else: the CPU time of buddy and of the commands that it waited for.
    run = f"{words} </dev/null >{events}; code=$?; times >{times}; tail -n 1 {events}; exit $code"
    return f"sh -c {shlex.quote(run)}"


def with_scripted_model(command: str) -> str:
    """The command with the scripted model beside it, which prints its address once it listens."""
    start = f"{SCRIPTED_MODEL} {SCRIPT} >/tmp/.scripted-model & model=$!"
    wait = "until [ -s /tmp/.scripted-model ]; do kill -0 $model || exit 1; sleep 0.05; done"
    address = 'export BUDDY_BASE_URL="$(cat /tmp/.scripted-model)/v1"'
    return f"{start}; {wait}; {address}; {command}; code=$?; kill $model; exit $code"


def parse_times(text: str) -> float | None:
    """Seconds of CPU time in the second line of the shell's `times`: `0m0.031s 0m0.012s`."""
    lines = text.splitlines()
    if len(lines) < 2:
        return None
    seconds = 0.0
    for word in lines[1].split():
        minutes, rest = word.rstrip("s").split("m")
        seconds += int(minutes) * 60 + float(rest)
    return round(seconds, 3)
