"""HumanEval, solved by buddy.

    inspect eval contrib/inspect/humaneval.py --model none --limit 20 -T binary=target/release/buddy

The samples come from the dataset that inspect_evals uses, or from a file in the same form (`-T dataset=FILE`).
"""

import gzip
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from inspect_ai import Task, task  # noqa: E402
from inspect_ai.dataset import MemoryDataset  # noqa: E402
from inspect_evals.humaneval.humaneval import humaneval, record_to_sample, verify  # noqa: E402

from buddy_inspect.solver import buddy, cpu_seconds  # noqa: E402


@task
def buddy_humaneval(
    binary: str,
    model: str | None = None,
    timeout: str = "10m",
    sandbox: str = "docker",
    dataset: str | None = None,
    scripted_model: str | None = None,
) -> Task:
    """HumanEval with buddy as its solver.

    Args:
        binary: The buddy program.
        model: The model, as `buddy -m` takes it.
        timeout: The time limit of a run.
        sandbox: `docker`, or `local` for scripted runs: the scorer runs the answer without a jail there.
        dataset: A file with HumanEval's records, `.jsonl` or `.jsonl.gz` [default: from Hugging Face].
        scripted_model: The scripted-model program, to run without a key.
    """
    if sandbox == "local" and scripted_model is None:
        raise ValueError("the scorer runs answers without a jail in the local sandbox; use sandbox=docker with a real model")
    solver = buddy(binary, model, timeout, scripted_model, throwaway=sandbox != "local")
    scorers = [verify(), cpu_seconds()]
    if dataset is None:
        return humaneval(solver=solver, scorer=scorers, sandbox=sandbox)
    return Task(dataset=read_dataset(dataset), solver=solver, scorer=scorers, sandbox=sandbox)


def read_dataset(path: str) -> MemoryDataset:
    opener = gzip.open if path.endswith(".gz") else open
    convert = record_to_sample()
    with opener(path, "rt", encoding="utf-8") as lines:
        samples = [convert(json.loads(line)) for line in lines if line.strip()]
    return MemoryDataset(samples, name="humaneval", location=path)
