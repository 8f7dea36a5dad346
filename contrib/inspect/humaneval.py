"""HumanEval, solved by buddy.

    inspect eval contrib/inspect/humaneval.py --model none --limit 20 -T binary=target/release/buddy

The samples come from the dataset that inspect_evals uses, or from a file in the same form (`-T dataset=FILE`).
"""

import gzip
import json
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

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
    compose: str | None = None,
    dataset: str | None = None,
    scripted_model: str | None = None,
) -> Task:
    """HumanEval with buddy as its solver.

    Args:
        binary: The buddy program.
        model: The model, as `buddy -m` takes it.
        timeout: The time limit of a run.
        sandbox: `docker`, or `local` for scripted runs: the scorer runs the answer without a jail there.
        compose: The compose file of the containers [default: `compose.yaml` beside this file].
        dataset: A file with HumanEval's records, `.jsonl` or `.jsonl.gz` [default: from Hugging Face].
        scripted_model: The scripted-model program, to run without a key.
    """
    if sandbox == "local" and scripted_model is None:
        raise ValueError("the scorer runs answers without a jail in the local sandbox; use sandbox=docker with a real model")
    scripted_model = scripted_model and from_start(scripted_model)
    solver = buddy(from_start(binary), model, timeout, scripted_model, throwaway=sandbox != "local")
    scorers = [verify(), cpu_seconds()]
    place = sandbox if sandbox == "local" else (sandbox, from_start(compose or str(HERE / "compose.yaml")))
    if dataset is None:
        return humaneval(solver=solver, scorer=scorers, sandbox=place)
    return Task(dataset=read_dataset(from_start(dataset)), solver=solver, scorer=scorers, sandbox=place)


def from_start(path: str) -> str:
    """A path as you gave it: inspect_ai makes tasks in the folder of their file, and `PWD` is still that of your shell."""
    return str(Path(os.environ.get("PWD", ""), Path(path).expanduser()).resolve())


def read_dataset(path: str) -> MemoryDataset:
    opener = gzip.open if path.endswith(".gz") else open
    convert = record_to_sample()
    with opener(path, "rt", encoding="utf-8") as lines:
        samples = [convert(json.loads(line)) for line in lines if line.strip()]
    return MemoryDataset(samples, name="humaneval", location=path)
