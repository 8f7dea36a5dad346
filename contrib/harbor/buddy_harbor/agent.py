"""`BuddyAgent`: harbor copies buddy into the environment of a task, runs `buddy exec` there and keeps its trajectory.

    harbor run -p contrib/harbor/tasks -a buddy_harbor.agent:BuddyAgent -m openai/gpt-5.3-codex --ak binary=target/release/buddy

The events of a run are in `agent/buddy.jsonl` of its trial, and `cargo xtask trajectory` reads them.
"""

from pathlib import Path
from typing import Annotated, Any, override

from pydantic import Field

from harbor.agents.capabilities import AgentCapabilities
from harbor.agents.installed.base import (
    AgentAuthenticationError,
    ApiOverloadedError,
    ApiRateLimitError,
    ApiResponseStalledError,
    ApiUsageLimitError,
    BaseInstalledAgent,
    ContextWindowExceededError,
    ModelNotFoundError,
    NetworkConnectionError,
    NonZeroAgentExitCodeError,
    with_prompt_template,
)
from harbor.agents.options import Cli, InstalledAgentOptions
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.trajectories import Trajectory
from harbor.utils.trajectory_utils import format_trajectory_json

from buddy_harbor.atif import convert_events, parse_lines
from buddy_harbor.command import (
    BINARY,
    CPU_TIMES,
    ENDED,
    EVENTS,
    SCRIPT,
    SCRIPTED_MODEL,
    build_command,
    parse_times,
    with_scripted_model,
)

# Outside the task's home, which its tests may look at.
BUDDY_HOME = "/tmp/.buddy-agent"
TRAJECTORY = "trajectory.json"

# Address, API and key variable of the providers in `--model PROVIDER/MODEL`.
PROVIDERS = {
    "openai": ("https://api.openai.com/v1", "responses", "OPENAI"),
    "anthropic": ("https://api.anthropic.com/v1", "messages", "ANTHROPIC"),
    "openrouter": ("https://openrouter.ai/api/v1", "completions", "OPENROUTER"),
}
# Variables of yours that buddy gets as they are; they win over the table above.
PASSED_ON = ("BUDDY_BASE_URL", "BUDDY_API", "BUDDY_API_KEY", "BUDDY_MODEL")

# Errors of a failed run by `error.kind` of its result; harbor retries by the type.
ERRORS: dict[str, type[NonZeroAgentExitCodeError]] = {
    "auth": AgentAuthenticationError,
    "context_overflow": ContextWindowExceededError,
    "model_missing": ModelNotFoundError,
    "quota": ApiUsageLimitError,
    "rate_limited": ApiRateLimitError,
    "timeout": ApiResponseStalledError,
    "transport": NetworkConnectionError,
    "unavailable": ApiOverloadedError,
}


class BuddyOptions(InstalledAgentOptions):
    """The options of `--ak KEY=VALUE`."""

    binary: str = Field(description="The buddy program to copy into the environment, built for its system.")
    timeout: Annotated[str | None, Cli("--timeout")] = Field(default=None, description="Time limit, such as `10m`.")
    max_turns: Annotated[int | None, Cli("--max-turns")] = Field(default=None, description="Limit of model calls.")
    max_cost: Annotated[float | None, Cli("--max-cost")] = Field(default=None, description="Limit in US dollars.")
    setting: Annotated[str | None, Cli("-c")] = Field(default=None, description="A configuration key, `KEY=VALUE`.")
    scripted_model: str | None = Field(default=None, description="The scripted-model program, to run without a key.")
    scripts: str | None = Field(default=None, description="The folder with a script `TASK.json` for each task.")


class BuddyAgent(BaseInstalledAgent):
    """buddy in the environment of a task."""

    capabilities = AgentCapabilities(atif=True)
    options_model = BuddyOptions
    options: BuddyOptions

    @staticmethod
    @override
    def name() -> str:
        return "buddy"

    @override
    def get_version_command(self) -> str | None:
        return f"{BINARY} --version"

    @override
    def parse_version(self, stdout: str) -> str:
        return stdout.strip().removeprefix("buddy ")

    @override
    async def install(self, environment: BaseEnvironment) -> None:
        await self._copy(environment, self.options.binary, BINARY)
        if self.options.scripted_model is not None:
            await self._copy(environment, self.options.scripted_model, SCRIPTED_MODEL)
            script = Path(self.options.scripts or "scripted") / f"{environment.environment_name}.json"
            await self._copy(environment, str(script), SCRIPT)
        # Says at once if the program does not run here, for example because of an older libc.
        await self.exec_as_agent(environment, command=f"{BINARY} --version")

    async def _copy(self, environment: BaseEnvironment, source: str, target: str) -> None:
        path = Path(source).expanduser()
        if not path.is_file():
            raise RuntimeError(f"cannot copy {source}: no such file")
        await environment.upload_file(path, target)
        await self.exec_as_root(environment, command=f"chmod 755 {target}")

    @override
    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        command = build_command(instruction, self.environment_logs_dir.as_posix(), self.build_cli_flags())
        env = {"BUDDY_HOME": BUDDY_HOME, **self._model_env()}
        if self.options.scripted_model is not None:
            command = with_scripted_model(command)
        # The environment's own `exec`: buddy's exit codes say more than zero or not.
        done = await environment.exec(command=command, env=env)
        if done.return_code not in ENDED:
            raise failure_of(done.return_code, done.stdout or "", done.stderr or "")

    def _model_env(self) -> dict[str, str]:
        """The variables that choose the model and its server."""
        env = {}
        if self.options.scripted_model is not None:
            return {"BUDDY_MODEL": "scripted", "BUDDY_API": "completions", "BUDDY_API_KEY": "none"}
        address, api, prefix = PROVIDERS.get(self._parsed_model_provider or "", (None, None, None))
        if address is not None:
            env = {"BUDDY_BASE_URL": self._get_env(f"{prefix}_BASE_URL") or address, "BUDDY_API": api}
            if key := self._get_env(f"{prefix}_API_KEY"):
                env["BUDDY_API_KEY"] = key
        if self._parsed_model_name:
            env["BUDDY_MODEL"] = self._parsed_model_name
        for name in PASSED_ON:
            if value := self._get_env(name):
                env[name] = value
        return env

    @override
    def convert_trajectory(self, logs_dir: Path) -> Trajectory | None:
        trajectory = self._convert(logs_dir)
        return None if trajectory is None else Trajectory.model_validate(trajectory)

    def _convert(self, logs_dir: Path) -> dict[str, Any] | None:
        log = logs_dir / EVENTS
        if not log.is_file():
            return None
        with log.open(encoding="utf-8", errors="replace") as lines:
            return convert_events(*parse_lines(lines))

    @override
    def populate_context_post_run(self, context: AgentContext) -> None:
        trajectory = self.convert_trajectory(self.logs_dir)
        if trajectory is None:
            self.logger.warning("buddy left no events in %s", self.logs_dir / EVENTS)
            return
        (self.logs_dir / TRAJECTORY).write_text(
            format_trajectory_json(trajectory.to_json_dict()), encoding="utf-8"
        )
        totals = trajectory.final_metrics
        if totals is not None:
            context.n_input_tokens = totals.total_prompt_tokens
            context.n_cache_tokens = totals.total_cached_tokens
            context.n_output_tokens = totals.total_completion_tokens
            context.cost_usd = totals.total_cost_usd
        context.metadata = {**(trajectory.extra or {})}
        times = self.logs_dir / CPU_TIMES
        if times.is_file():
            context.metadata["cpu_seconds"] = parse_times(times.read_text(encoding="utf-8"))


def failure_of(code: int, stdout: str, stderr: str) -> NonZeroAgentExitCodeError:
    """The error of a run that failed, from the result in the last line of its output."""
    _, result = parse_lines(stdout.splitlines())
    error = (result or {}).get("error") or {}
    kind = ERRORS.get(error.get("kind", ""), NonZeroAgentExitCodeError)
    said = error.get("message") or stderr.strip()[-1000:] or "no message"
    return kind(f"buddy exited with code {code}: {said}")
