"""The outcome of a recorded session, and the command of a run. Needs neither inspect_ai nor a network."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from buddy_inspect.run import ENDED, build_command, parse_times, read_outcome, script_answers  # noqa: E402

RECORDED = HERE.parents[2] / "xtask/src/trajectory/fixtures/recorded.json"
RESULT = {
    "type": "result",
    "status": "completed",
    "text": "Done.",
    "usage": {"input": 8120, "output": 110},
    "cost": 0.01,
}


class OutcomeTest(unittest.TestCase):
    def setUp(self) -> None:
        events = json.loads(RECORDED.read_text(encoding="utf-8"))
        lines = [json.dumps(event) for event in [*events, RESULT]] + ['{"type": "item.en']
        self.outcome = read_outcome("\n".join(lines))

    def test_answer_and_tokens_come_from_the_result(self) -> None:
        self.assertEqual((self.outcome.text, self.outcome.status, self.outcome.error), ("Done.", "completed", None))
        self.assertEqual(self.outcome.usage["input"], 8120)
        self.assertEqual(self.outcome.cost_usd, 0.01)

    def test_each_call_is_followed_by_its_result(self) -> None:
        messages = self.outcome.messages
        calls = [place for place, message in enumerate(messages) if message.get("tool_calls")]
        self.assertEqual(len(calls), 6)
        for place in calls:
            self.assertEqual(messages[place + 1]["role"], "tool")
            self.assertEqual(messages[place + 1]["tool_call_id"], messages[place]["tool_calls"][0]["id"])
        failed = [message["content"] for message in messages if message["content"].startswith("old_not_found: ")]
        self.assertEqual(len(failed), 1)
        self.assertEqual(messages[-1], {"role": "assistant", "content": "Done."})

    def test_a_failed_run_names_its_error(self) -> None:
        line = json.dumps({"type": "result", "status": "auth", "error": {"kind": "auth", "message": "no key"}})
        self.assertEqual(read_outcome(line).error, "no key")

    def test_a_run_without_a_result_is_unknown(self) -> None:
        self.assertEqual(read_outcome("").status, "unknown")


class CommandTest(unittest.TestCase):
    def test_the_command_keeps_prompt_exit_code_and_cpu_time(self) -> None:
        prompt = "say 'it' \"loud\"; $HOME\n-- done"
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder) / "fake buddy"
            fake.write_text('#!/bin/sh\nfor word; do printf "<%s>" "$word"; done\nexit 3\n', encoding="utf-8")
            fake.chmod(0o755)
            done = subprocess.run(["sh", "-c", build_command(str(fake), folder, prompt, ["--trust"])], check=False)
            self.assertEqual(done.returncode, 3)
            said = (Path(folder) / "buddy.jsonl").read_text(encoding="utf-8")
            self.assertEqual(said, f"<exec><--json><--trust><--><{prompt}>")
            seconds = parse_times((Path(folder) / "cpu-times.txt").read_text(encoding="utf-8"))
            self.assertIsNotNone(seconds)
            self.assertLess(seconds, 5)

    def test_a_run_that_reached_a_limit_came_to_an_end(self) -> None:
        success, turns, budget, denied, full_context, timeout = 0, 3, 4, 5, 7, 124
        self.assertEqual(set(ENDED), {success, turns, budget, denied, full_context, timeout})

    def test_cpu_times_add_up(self) -> None:
        self.assertEqual(parse_times("0m0.00s 0m0.00s\n1m2.25s 0m0.50s\n"), 62.75)
        self.assertIsNone(parse_times(""))

    def test_the_script_answers_with_the_whole_function(self) -> None:
        turns = script_answers("def f():\n", "    return 1\n")["turns"]
        self.assertEqual(turns[0]["tool_calls"][0]["arguments"]["content"], "def f():\n    return 1\n")
        self.assertIn("def f():\n    return 1\n", turns[-1]["text"])


if __name__ == "__main__":
    unittest.main()
