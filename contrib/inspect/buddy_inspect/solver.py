"""`buddy`: a solver that runs `buddy exec` in the sandbox of a sample, and `cpu_seconds`: the CPU time of each run."""

import json
import os
from pathlib import Path

from inspect_ai.model import ChatMessageAssistant, ChatMessageTool, ChatMessageUser, ModelOutput, ModelUsage
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, mean, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import ToolCall
from inspect_ai.util import SandboxEnvironment, sandbox

from buddy_inspect.run import (
    CPU_TIMES,
    ENDED,
    EVENTS,
    RunOutcome,
    build_command,
    parse_times,
    read_outcome,
    script_answers,
    with_scripted_model,
)

# Variables of yours that choose the model and its server.
PASSED_ON = ("BUDDY_BASE_URL", "BUDDY_API", "BUDDY_API_KEY", "BUDDY_MODEL")
PASSED_ON += tuple(f"{name}_{what}" for name in ("OPENAI", "ANTHROPIC", "OPENROUTER") for what in ("API_KEY", "BASE_URL"))


@solver
def buddy(
    binary: str,
    model: str | None = None,
    timeout: str = "10m",
    scripted_model: str | None = None,
    throwaway: bool = False,
) -> Solver:
    """Answers each sample by one run of buddy.

    Args:
        binary: The buddy program.
        model: The model, as `buddy -m` takes it [default: by your variables].
        timeout: The time limit of a run.
        scripted_model: The scripted-model program. The model then knows the sample's own solution; no key is needed.
        throwaway: The sandbox is a container: programs are copied into it, and buddy runs without its own jail.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        box = sandbox()
        folder = (await box.exec(["mktemp", "-d"])).stdout.strip()
        try:
            program = await place(box, throwaway, binary, f"{folder}/buddy")
            flags = ["--timeout", timeout, "--throwaway" if throwaway else "--trust"]
            flags += ["-m", model] if model else []
            command = build_command(program, folder, state.input_text, flags)
            if scripted_model is not None:
                server = await place(box, throwaway, scripted_model, f"{folder}/scripted-model")
                script = script_answers(state.metadata["prompt"], state.target.text)
                await box.write_file(f"{folder}/script.json", json.dumps(script))
                command = with_scripted_model(command, server, f"{folder}/script.json", folder)
            env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
            # inspect_ai writes the variables of a command to its log, and one of them is the key.
            with box.no_events():
                done = await box.exec(["sh", "-c", command], env={**env, "BUDDY_HOME": f"{folder}/home"})
            outcome = read_outcome(await box.read_file(f"{folder}/{EVENTS}"))
            if done.returncode not in ENDED:
                reason = outcome.error or done.stderr.strip() or outcome.status
                raise RuntimeError(f"buddy exited with code {done.returncode}: {reason}")
            record(state, outcome)
            state.metadata["cpu_seconds"] = parse_times(await box.read_file(f"{folder}/{CPU_TIMES}"))
        finally:
            await box.exec(["rm", "-rf", folder])
        return state

    return solve


async def place(box: SandboxEnvironment, is_container: bool, source: str, target: str) -> str:
    """Makes a program of this machine available in the sandbox, and returns its path there."""
    path = Path(source).expanduser().resolve()
    if not is_container:
        return str(path)
    await box.write_file(target, path.read_bytes())
    await box.exec(["chmod", "755", target])
    return target


def record(state: TaskState, outcome: RunOutcome) -> None:
    """Puts answer, messages and tokens into the state."""
    for message in outcome.messages:
        if message["role"] == "tool":
            state.messages.append(ChatMessageTool(**message))
        elif message["role"] == "user":
            state.messages.append(ChatMessageUser(**message))
        else:
            calls = [ToolCall(**call) for call in message.get("tool_calls", [])]
            state.messages.append(ChatMessageAssistant(content=message["content"], tool_calls=calls or None))
    usage = outcome.usage
    cached, written = usage.get("cached_input", 0), usage.get("cache_write", 0)
    state.output = ModelOutput.from_content(model="buddy", content=outcome.text)
    state.output.usage = ModelUsage(
        # inspect_ai counts only what was not in the cache as input.
        input_tokens=usage.get("input", 0) - cached - written,
        output_tokens=usage.get("output", 0),
        total_tokens=usage.get("input", 0) + usage.get("output", 0),
        input_tokens_cache_read=cached,
        input_tokens_cache_write=written,
        reasoning_tokens=usage.get("reasoning_output", 0),
    )
    state.metadata["status"] = outcome.status
    state.metadata["cost_usd"] = outcome.cost_usd


@metric
def largest() -> Metric:
    def compute(scores: list[SampleScore]) -> float:
        return max((score.score.as_float() for score in scores), default=0.0)

    return compute


@scorer(metrics=[mean(), largest()])
def cpu_seconds() -> Scorer:
    """The CPU time of buddy and its commands, in seconds."""

    async def score(state: TaskState, target: Target) -> Score:
        return Score(value=state.metadata.get("cpu_seconds") or 0.0)

    return score
