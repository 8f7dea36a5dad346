"""One run of `buddy exec --json`: the command, and the outcome that its output tells."""

import json
import shlex
from dataclasses import dataclass, field
from typing import Any

EVENTS = "buddy.jsonl"
CPU_TIMES = "cpu-times.txt"
ADDRESS = "address"

# Exit codes of runs that came to an end, whose answer counts: success, a limit, a budget, a denied call, a full context,
# a timeout. One sample that raises would end the whole evaluation.
ENDED = (0, 3, 4, 5, 7, 124)


@dataclass
class RunOutcome:
    """The outcome of a run."""

    text: str = ""
    status: str = "unknown"
    error: str | None = None
    usage: dict[str, int] = field(default_factory=dict)
    cost_usd: float | None = None
    # Messages as inspect_ai's models take them, by role.
    messages: list[dict[str, Any]] = field(default_factory=list)


def build_command(binary: str, folder: str, prompt: str, flags: list[str]) -> str:
    """The shell command of a run. Events and CPU times go to files of the folder."""
    words = shlex.join([binary, "exec", "--json", *flags, "--", prompt])
    events, times = (shlex.quote(f"{folder}/{name}") for name in (EVENTS, CPU_TIMES))
    # `times` of a shell that started nothing else: the CPU time of buddy and of the commands that it waited for.
    run = f"{words} </dev/null >{events}; code=$?; times >{times}; exit $code"
    return f"sh -c {shlex.quote(run)}"


def with_scripted_model(command: str, scripted_model: str, script: str, folder: str) -> str:
    """The command with the scripted model beside it, which prints its address once it listens."""
    address = shlex.quote(f"{folder}/{ADDRESS}")
    start = f"{shlex.join([scripted_model, script])} >{address} & model=$!"
    wait = f"until [ -s {address} ]; do kill -0 $model || exit 1; sleep 0.05; done"
    export = f'export BUDDY_BASE_URL="$(cat {address})/v1" BUDDY_MODEL=scripted BUDDY_API_KEY=none'
    return f"{start}; {wait}; {export}; {command}; code=$?; kill $model; exit $code"


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


def read_outcome(text: str) -> RunOutcome:
    """The outcome in the output of `buddy exec --json`. Half a line at the end of a run that was killed is left out."""
    outcome = RunOutcome()
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if value.get("type") == "item.ended":
            outcome.messages.extend(messages_of(value["data"]["item"]))
        elif value.get("type") == "result":
            outcome.text = value.get("text") or ""
            outcome.status = value["status"]
            outcome.error = (value.get("error") or {}).get("message")
            outcome.usage = value.get("usage") or {}
            outcome.cost_usd = value.get("cost")
    return outcome


def messages_of(item: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages of an item. The prompt is left out: inspect_ai has it already."""
    content = item["content"]
    if content["type"] == "agent_message":
        return [{"role": "assistant", "content": content["text"]}]
    if content["type"] == "reminder":
        return [{"role": "user", "content": content["text"]}]
    if content["type"] != "tool_call":
        return []
    arguments = content.get("input")
    call = {
        "id": item["id"],
        "function": content["name"],
        "arguments": arguments if isinstance(arguments, dict) else {"value": arguments},
    }
    output = content.get("output") or {}
    error = output.get("error")
    said = f"{error['code']}: {error['message']}" if error else json.dumps(output.get("result"), ensure_ascii=False)
    return [
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": said, "tool_call_id": item["id"], "function": content["name"]},
    ]


def script_answers(prompt: str, solution: str) -> dict[str, Any]:
    """A script for the scripted model that solves a sample of HumanEval: write the file, check it, answer."""
    code = prompt + solution
    usage = {"input": 2000, "output": 100}

    def call(name: str, **arguments: Any) -> dict[str, Any]:
        return {"tool_calls": [{"name": name, "arguments": arguments}], "usage": usage}

    return {
        "turns": [
            call("write_file", path="solution.py", content=code),
            # A check that costs next to nothing, so that the CPU time is buddy's own.
            call("run_shell", command="test -s solution.py"),
            {"text": f"```python\n{code}\n```", "usage": usage},
        ]
    }
