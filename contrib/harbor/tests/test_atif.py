"""The conversion of a recorded session. Needs neither harbor nor a network.

If harbor is installed, its own model of the format checks the result too.
"""

import copy
import json
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from buddy_harbor.atif import convert_events, parse_lines  # noqa: E402

RECORDED = HERE.parents[2] / "xtask/src/trajectory/fixtures/recorded.json"


def recorded() -> list[dict]:
    return json.loads(RECORDED.read_text(encoding="utf-8"))


class ConversionTest(unittest.TestCase):
    def setUp(self) -> None:
        self.trajectory = convert_events(recorded(), {"type": "result", "status": "completed", "turns": 7, "error": None})
        self.steps = self.trajectory["steps"]

    def test_each_model_call_is_a_step_in_the_order_of_the_session(self) -> None:
        sources = [step["source"] for step in self.steps]
        self.assertEqual(sources, ["user"] + ["agent"] * 5 + ["system"] + ["agent"] * 2)
        self.assertEqual([step["step_id"] for step in self.steps], list(range(1, 10)))
        self.assertEqual(self.steps[0]["message"], "say goodbye")
        self.assertEqual(self.steps[6]["extra"], {"type": "reminder", "cause": "unverified"})
        self.assertEqual(self.steps[-1]["message"], "Done.")

    def test_a_step_has_message_reasoning_calls_and_results(self) -> None:
        step = self.steps[1]
        self.assertEqual((step["message"], step["reasoning_content"]), ("I read the file.", "I look first."))
        call = step["tool_calls"][0]
        self.assertEqual((call["function_name"], call["arguments"]), ("read_file", {"path": "a.txt"}))
        result = step["observation"]["results"][0]
        self.assertEqual(result["source_call_id"], call["tool_call_id"])
        self.assertEqual((result["content"], result["extra"]), ("hello\n", {"status": "completed"}))

    def test_failures_and_commands_are_readable(self) -> None:
        edit, command = self.steps[2]["observation"]["results"]
        self.assertTrue(edit["content"].startswith("old_not_found: "), edit)
        self.assertEqual(edit["extra"], {"status": "failed"})
        self.assertEqual(command["content"], "exit code: 1")
        check = self.steps[7]["observation"]["results"][0]
        self.assertEqual(check["content"], "exit code: 0\ngoodbye")

    def test_tokens_and_cost(self) -> None:
        self.assertEqual(self.steps[2]["metrics"]["cached_tokens"], 500)
        totals = self.trajectory["final_metrics"]
        self.assertEqual(totals["total_prompt_tokens"], 8120)
        self.assertEqual(totals["total_completion_tokens"], 110)
        self.assertEqual(totals["total_cached_tokens"], 3200)
        self.assertEqual(totals["total_steps"], 9)
        costs = [event["data"]["cost"] for event in recorded() if event["type"] == "usage"]
        self.assertAlmostEqual(totals["total_cost_usd"], sum(costs) / 1e6)

    def test_an_unknown_price_leaves_the_cost_out(self) -> None:
        events = recorded()
        del next(event for event in events if event["type"] == "usage")["data"]["cost"]
        self.assertNotIn("total_cost_usd", convert_events(events)["final_metrics"])

    def test_agent_and_result(self) -> None:
        self.assertEqual(self.trajectory["agent"]["name"], "buddy")
        self.assertEqual(self.trajectory["agent"]["version"], "0.1.0")
        self.assertIn("run_shell", self.trajectory["agent"]["extra"]["tools"])
        self.assertEqual(self.trajectory["extra"], {"status": "completed", "turns": 7})

    def test_a_run_that_was_cut_off_converts(self) -> None:
        events = recorded()
        call = next(place for place, event in enumerate(events) if event["type"] == "item.changed")
        steps = convert_events(events[: call + 1])["steps"]
        self.assertEqual(len(steps), 2)
        self.assertEqual(len(steps[1]["tool_calls"]), 1)
        self.assertNotIn("observation", steps[1])

    def test_nothing_gives_nothing(self) -> None:
        self.assertIsNone(convert_events([]))
        self.assertIsNone(convert_events(recorded()[:1]))

    def test_calls_with_the_same_id_keep_their_results(self) -> None:
        events = recorded()
        for event in events:
            content = event["data"].get("item", {}).get("content", {})
            if content.get("type") == "tool_call":
                content["call_id"] = "same"
        step = convert_events(events)["steps"][2]
        ids = [call["tool_call_id"] for call in step["tool_calls"]]
        self.assertEqual(len(set(ids)), 2)
        self.assertEqual([result["source_call_id"] for result in step["observation"]["results"]], ids)

    def test_lines_are_split_into_events_and_result(self) -> None:
        events = recorded()
        lines = [json.dumps(event) for event in events] + ['{"type":"result","status":"completed"}', '{"session": "half']
        self.assertEqual(parse_lines(lines), (events, {"type": "result", "status": "completed"}))

    def test_harbor_accepts_the_trajectory(self) -> None:
        try:
            from harbor.models.trajectories import Trajectory
        except ImportError:
            # Without harbor, check the one rule between steps that its model enforces.
            for step in self.steps:
                ids = {call["tool_call_id"] for call in step.get("tool_calls", [])}
                results = step.get("observation", {"results": []})["results"]
                self.assertLessEqual({result["source_call_id"] for result in results}, ids)
            return
        kept = Trajectory.model_validate(copy.deepcopy(self.trajectory)).to_json_dict()
        self.assertEqual(kept["steps"], self.steps)


if __name__ == "__main__":
    unittest.main()
