"""Converts buddy's events to a trajectory in ATIF, harbor's Agent Trajectory Interchange Format.

The input is what `buddy exec --json` prints: events, one JSON object per line, and then a result. The output is a
plain dictionary, so this module does not need harbor. A run that was cut off converts too: calls without a result
then have no observation.
"""

import json
from datetime import datetime, timezone
from typing import Any, Iterable

SCHEMA_VERSION = "ATIF-v1.7"
MICRO = 1_000_000

# Contents of items that are one step of their own, with the step's source and the field of its message.
WHOLE_STEPS = {
    "user_message": ("user", "text"),
    "reminder": ("system", "text"),
    "compaction": ("system", "summary"),
}


def parse_lines(lines: Iterable[str]) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Splits the output of `buddy exec --json` into events and the last result.

    The last line of a run that was killed can be half a line; it is left out.
    """
    events: list[dict[str, Any]] = []
    result = None
    for line in lines:
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if not isinstance(value, dict):
            continue
        if "session" in value:
            events.append(value)
        elif value.get("type") == "result":
            result = value
    return events, result


def convert_events(events: list[dict[str, Any]], result: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """The trajectory of the events; `None` if there is no step."""
    began: dict[str, Any] = {}
    steps: dict[tuple, StepDraft] = {}
    for event in events:
        data = event.get("data") or {}
        if event["type"] == "session.started":
            began = data.get("began_with") or {}
        elif event["type"] == "usage":
            step_of(steps, data.get("turn"), data.get("step"), event).add_usage(data)
        elif event["type"] in ("item.started", "item.changed", "item.ended"):
            add_item(steps, data["item"], event)
    drafts = [draft for draft in steps.values() if not draft.is_empty()]
    if not drafts:
        return None
    session = events[0]["session"]
    trajectory = {
        "schema_version": SCHEMA_VERSION,
        "session_id": session,
        "trajectory_id": session,
        "agent": describe_agent(began),
        "steps": [draft.render(number) for number, draft in enumerate(drafts, start=1)],
        "final_metrics": add_up(drafts),
    }
    if result is not None:
        kept = ("status", "stop_reason", "duration_ms", "turns", "calls", "error")
        trajectory["extra"] = {key: result[key] for key in kept if result.get(key) is not None}
    return trajectory


class StepDraft:
    """One step while its events are read: a message of the user or of buddy, or one call of the model."""

    def __init__(self, source: str, time_ms: int) -> None:
        self.source = source
        self.time_ms = time_ms
        # The newest state of each item by its id.
        self.items: dict[str, dict[str, Any]] = {}
        self.usages: list[dict[str, Any]] = []

    def is_empty(self) -> bool:
        return not self.items and not self.usages

    def add_usage(self, data: dict[str, Any]) -> None:
        self.usages.append(data)

    def render(self, number: int) -> dict[str, Any]:
        items = sorted(self.items.values(), key=lambda item: item.get("place") or 0)
        contents = [item["content"] for item in items]
        step: dict[str, Any] = {"step_id": number, "timestamp": timestamp(self.time_ms), "source": self.source}
        if self.source != "agent":
            content = contents[0]
            step["message"] = content.get(WHOLE_STEPS[content["type"]][1]) or ""
            if content["type"] != "user_message":
                step["extra"] = {"type": content["type"], **({"cause": content["cause"]} if "cause" in content else {})}
            return step
        step["message"] = join_texts(contents, "agent_message")
        if self.usages:
            step["model_name"] = self.usages[-1]["model"]
            step["llm_call_count"] = len(self.usages)
            step["metrics"] = metrics_of(self.usages)
        reasoning = join_texts(contents, "reasoning")
        if reasoning:
            step["reasoning_content"] = reasoning
        calls, results = render_calls([item for item in items if item["content"]["type"] == "tool_call"])
        if calls:
            step["tool_calls"] = calls
        if results:
            step["observation"] = {"results": results}
        return step


def step_of(steps: dict[tuple, StepDraft], turn: Any, step: Any, event: dict[str, Any]) -> StepDraft:
    """The draft of one call of the model."""
    return steps.setdefault(("agent", turn, step), StepDraft("agent", event["time"]))


def add_item(steps: dict[tuple, StepDraft], item: dict[str, Any], event: dict[str, Any]) -> None:
    kind = item["content"]["type"]
    if kind in WHOLE_STEPS:
        draft = steps.setdefault(("item", item["id"]), StepDraft(WHOLE_STEPS[kind][0], event["time"]))
        draft.items[item["id"]] = item
    elif kind in ("agent_message", "reasoning", "tool_call"):
        step_of(steps, item.get("turn"), item.get("step"), event).items[item["id"]] = item


def render_calls(items: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    calls: list[dict[str, Any]] = []
    results: list[dict[str, Any]] = []
    for item in items:
        call = item["content"]
        # Some servers give every call the same id; results refer to their call by it.
        is_taken = any(call["call_id"] == other["tool_call_id"] for other in calls)
        call_id = item["id"] if is_taken or not call["call_id"] else call["call_id"]
        arguments = call.get("input")
        calls.append(
            {
                "tool_call_id": call_id,
                "function_name": call["name"],
                "arguments": arguments if isinstance(arguments, dict) else {"value": arguments},
            }
        )
        if call.get("output") is not None:
            results.append(
                {
                    "source_call_id": call_id,
                    "content": render_output(call["output"]),
                    "extra": {"status": item["status"]},
                }
            )
    return calls, results


def render_output(output: dict[str, Any]) -> str:
    """The result of a call as text: an error, a file, the output of a command, or JSON."""
    error = output.get("error")
    if error is not None:
        hint = f"\n{error['hint']}" if error.get("hint") else ""
        return f"{error['code']}: {error['message']}{hint}"
    result = output.get("result")
    if not isinstance(result, dict):
        return json.dumps(result, ensure_ascii=False)
    if "stdout" in result:
        parts = [f"exit code: {result.get('exit_code')}", result["stdout"], result.get("stderr") or ""]
        return "\n".join(part.rstrip("\n") for part in parts if part)
    if isinstance(result.get("content"), str):
        return result["content"]
    return json.dumps(result, ensure_ascii=False)


def metrics_of(usages: list[dict[str, Any]]) -> dict[str, Any]:
    def total(key: str) -> int:
        return sum(usage["usage"].get(key) or 0 for usage in usages)

    metrics: dict[str, Any] = {
        "prompt_tokens": total("input"),
        "completion_tokens": total("output"),
        "cached_tokens": total("cached_input"),
        "extra": {"cache_write_tokens": total("cache_write"), "reasoning_tokens": total("reasoning_output")},
    }
    cost = cost_of(usages)
    if cost is not None:
        metrics["cost_usd"] = cost
    return metrics


def cost_of(usages: list[dict[str, Any]]) -> float | None:
    """Dollars; `None` if the price of a call is unknown, because a partial sum would look like a whole one."""
    costs = [usage.get("cost") for usage in usages]
    if not costs or None in costs:
        return None
    return sum(costs) / MICRO


def add_up(drafts: list[StepDraft]) -> dict[str, Any]:
    metrics = metrics_of([usage for draft in drafts for usage in draft.usages])
    totals = {
        "total_prompt_tokens": metrics["prompt_tokens"],
        "total_completion_tokens": metrics["completion_tokens"],
        "total_cached_tokens": metrics["cached_tokens"],
        "total_steps": len(drafts),
        "extra": metrics["extra"],
    }
    if "cost_usd" in metrics:
        totals["total_cost_usd"] = metrics["cost_usd"]
    return totals


def describe_agent(began: dict[str, Any]) -> dict[str, Any]:
    agent: dict[str, Any] = {"name": "buddy", "version": began.get("version") or "unknown"}
    if began.get("model"):
        agent["model_name"] = began["model"]
    extra = {key: began[key] for key in ("mode", "tools") if key in began}
    if extra:
        agent["extra"] = extra
    return agent


def join_texts(contents: list[dict[str, Any]], kind: str) -> str:
    return "\n\n".join(content["text"] for content in contents if content["type"] == kind and content.get("text"))


def timestamp(time_ms: int) -> str:
    return datetime.fromtimestamp(time_ms / 1000, tz=timezone.utc).isoformat(timespec="milliseconds")
