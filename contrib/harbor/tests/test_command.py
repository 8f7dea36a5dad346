"""The command of a run, with a program that prints its arguments instead of buddy. Needs neither harbor nor a network."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from buddy_harbor.command import ENDED, build_command, parse_times  # noqa: E402


class CommandTest(unittest.TestCase):
    def test_the_command_keeps_prompt_exit_code_and_cpu_time_and_prints_the_result(self) -> None:
        prompt = "say 'it' \"loud\"; $HOME `id`"
        with tempfile.TemporaryDirectory() as folder:
            fake = Path(folder) / "fake buddy"
            fake.write_text('#!/bin/sh\necho first\nfor word; do printf "<%s>" "$word"; done\nexit 3\n', encoding="utf-8")
            fake.chmod(0o755)
            command = build_command(prompt, folder, "--max-turns 4", str(fake))
            done = subprocess.run(["sh", "-c", command], check=False, capture_output=True, text=True)
            self.assertEqual((done.returncode, done.stderr), (3, ""))
            last = f"<exec><--throwaway><--json><--max-turns><4><--><{prompt}>"
            self.assertEqual(done.stdout, last)
            self.assertEqual((Path(folder) / "buddy.jsonl").read_text(encoding="utf-8"), f"first\n{last}")
            self.assertIsNotNone(parse_times((Path(folder) / "cpu-times.txt").read_text(encoding="utf-8")))

    def test_a_run_that_reached_a_limit_came_to_an_end(self) -> None:
        success, turns, budget, denied, timeout = 0, 3, 4, 5, 124
        self.assertEqual(set(ENDED), {success, turns, budget, denied, timeout})

    def test_cpu_times_add_up(self) -> None:
        self.assertEqual(parse_times("0m0.00s 0m0.00s\n1m2.250000s 0m0.500000s\n"), 62.75)
        self.assertIsNone(parse_times(""))


class TasksTest(unittest.TestCase):
    def test_every_task_has_its_script(self) -> None:
        tasks = {path.name for path in (HERE.parent / "tasks").iterdir()}
        self.assertEqual(tasks, {path.stem for path in (HERE.parent / "scripted").iterdir()})
        self.assertEqual(len(tasks), 5)


if __name__ == "__main__":
    unittest.main()
