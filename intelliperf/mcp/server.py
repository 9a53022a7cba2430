"""The server: each tool is one `intelliperf` command in a process of its own, so that a patch of an agent goes through
the same judge as any other, and a cancelled call leaves nothing running.
"""

from __future__ import annotations

import json
import queue
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import BaseModel, Field

from intelliperf import __version__
from intelliperf.errors import IntelliPerfError
from intelliperf.mcp.answers import ReplayAnswer, RunAnswer, bounded, run_answer
from intelliperf.nightly.errand import Ended, Errand, run_errand
from intelliperf.project.journal import RUNS

_SHOWS = 3  # exit status of a check that found defects, and of a replay that is not the same and faster
_RUN = "run directory: "  # how a run's first note begins
_POLL_S = 0.05
_PATCH_LIMIT = 5 << 20
_TABLE_LIMIT = 40  # lines of one kernel
_INSTRUCTIONS = (
    "IntelliPerf finds GPU bottlenecks in HIP and CUDA programs and judges patches. Without a GPU it emulates one: its "
    "counts are exact, its times modelled. Start with diagnose; change the kernel; then verify your diff. Only "
    "accepted=true means that a patch is right and faster, and not_checked says what that does not prove."
)


class Program(BaseModel):
    """What is run, and where."""

    command: Annotated[list[str], Field(min_length=1, description="program and arguments, as in ['./app', '64']")]
    project: Annotated[str, Field(description="its directory, inside the server's root")] = "."
    build: Annotated[list[str], Field(description="build commands; none: as its build files say")] = []
    backend: Annotated[str, Field(pattern="^(auto|emulator|cuda|rocm)$")] = "auto"
    target: Annotated[str | None, Field(description="the chip that the emulator models: mi300x, h100, …")] = None
    kernel: Annotated[str | None, Field(description="only kernels whose name matches this expression")] = None
    unittest_command: Annotated[str | None, Field(description="must succeed on every accepted candidate")] = None
    minutes: Annotated[float, Field(gt=0, le=600, description="the call ends after so many minutes")] = 30

    def words(self, *options: str) -> list[str]:
        """The command line's options for it."""
        words = [word for command in self.build for word in ("--build-command", command)]
        for option, value in (("--backend", self.backend), ("--target", self.target), ("--kernel", self.kernel)):
            words += [option, value] if value and f"no {option}" not in options else []
        return words

    @property
    def tests(self) -> list[str]:
        return ["--unittest-command", self.unittest_command] if self.unittest_command else []


def serve(root: Path) -> None:
    """Until the client goes. Standard output is the protocol's."""
    make_server(root).run("stdio")


def make_server(root: Path) -> MCPServer[Any]:
    """`root`: no tool looks at a project outside of it."""
    server: MCPServer[Any] = MCPServer(
        "intelliperf", title="IntelliPerf", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING"
    )
    tools = _Tools(root.resolve())
    reading = ToolAnnotations(read_only_hint=True, open_world_hint=False)
    for tool in (tools.diagnose, tools.emulate, tools.check, tools.verify, tools.improve, tools.replay, tools.report):
        server.tool(annotations=reading, structured_output=True)(tool)
    return server


class _Tools:
    """The projects stay as they are: every tool works in scratch copies, and `improve` hands out a diff."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def diagnose(self, ctx: Context[Any, Any], program: Program) -> RunAnswer:
        """Profile a GPU program and name its worst bottleneck, with the source lines that cause it."""
        return await self._run(ctx, ["diagnose"], program)

    async def improve(
        self,
        ctx: Context[Any, Any],
        program: Program,
        formula: Annotated[str, Field(description="which bottleneck, as diagnose names it: atomicContention, …")],
    ) -> RunAnswer:
        """Search a patch for one bottleneck by provably right rules, and judge it. Changes nothing: returns a diff."""
        return await self._run(ctx, ["--formula", formula, *program.tests], program)

    async def verify(
        self,
        ctx: Context[Any, Any],
        program: Program,
        patch: Annotated[str, Field(max_length=_PATCH_LIMIT, description="a unified diff against the project")],
        allow_geometry: Annotated[bool, Field(description="the patch may change grids and blocks")] = False,
        allow_kernels: Annotated[bool, Field(description="the patch may add or split kernels")] = False,
    ) -> RunAnswer:
        """Judge a patch: does it build, give the same device buffers after every dispatch, and run faster?"""
        with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
            file = Path(name) / "agent.diff"
            text = patch if patch.endswith("\n") else patch + "\n"
            file.write_bytes(text.encode("utf-8", "surrogateescape"))
            allowed = [*["--allow-geometry"][: int(allow_geometry)], *["--allow-kernels"][: int(allow_kernels)]]
            return await self._run(ctx, ["verify", str(file), *program.tests, *allowed], program)

    async def emulate(self, ctx: Context[Any, Any], program: Program) -> dict[str, Any]:
        """Run a program on the emulated GPU and count, per source line, what it did to memory."""
        project = self._inside(program.project)
        with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
            words = ["emulate", *program.words("no --backend"), "--json", "--project-directory", str(project)]
            errand = Errand((*words, "--", *program.command), project, program.minutes * 60)
            ended = await _errand(ctx, errand, Path(name))
            if ended.exit_status != 0:
                raise ToolError(bounded(ended.complaint, 4000))
            return _bounded_table((Path(name) / "errand.stdout").read_text("utf-8", "replace"))

    async def check(
        self,
        ctx: Context[Any, Any],
        program: Program,
        seeds: Annotated[int, Field(ge=0, le=20, description="runs in random order beside the one in order")] = 1,
    ) -> dict[str, Any]:
        """Look for races, missing barriers and accesses out of bounds in a program as it is, on the emulated GPU."""
        project = self._inside(program.project)
        with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
            words = ["check", *program.words("no --backend", "no --kernel"), "--seeds", str(seeds), "--json"]
            errand = Errand(
                (*words, "--project-directory", str(project), "--", *program.command), project, program.minutes * 60
            )
            ended = await _errand(ctx, errand, Path(name))
            if ended.exit_status not in (0, _SHOWS):
                raise ToolError(bounded(ended.complaint, 4000))
            return _bounded_defects((Path(name) / "errand.stdout").read_text("utf-8", "replace"))

    async def replay(
        self,
        ctx: Context[Any, Any],
        run: Annotated[str, Field(description="a run's directory, as the other tools name it")],
        kernel: Annotated[str | None, Field(description="only kernels whose name matches this expression")] = None,
        minutes: Annotated[float, Field(gt=0, le=600, description="the call ends after so many minutes")] = 30,
    ) -> ReplayAnswer:
        """Launch a run's recorded dispatches again: is the accepted build the same, and how much faster?"""
        directory = self._inside(run)
        words = ["replay", str(directory), *(["--kernel", kernel] if kernel else [])]
        with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
            ended = await _errand(ctx, Errand(tuple(words), self._root, minutes * 60), Path(name))
            if ended.exit_status not in (0, _SHOWS):
                raise ToolError(bounded(ended.complaint, 4000))
            text = (Path(name) / "errand.stdout").read_text("utf-8", "replace")
        return ReplayAnswer(same_and_faster=ended.exit_status == 0, said=bounded(text.strip()).splitlines())

    async def report(
        self, run: Annotated[str, Field(description="a run's directory, as the other tools name it")]
    ) -> RunAnswer:
        """Read a finished run again."""
        try:
            return run_answer(self._inside(run))
        except IntelliPerfError as error:
            raise ToolError(str(error)) from error

    # ---- how -----------------------------------------------------------------------------------------

    def _inside(self, given: str) -> Path:
        path = (self._root / given).resolve()
        if self._root not in (path, *path.parents) or not path.is_dir():
            raise ToolError(f"{given!r} is not a directory inside {self._root}")
        return path

    async def _run(self, ctx: Context[Any, Any], words: list[str], program: Program) -> RunAnswer:
        """Of the finished run. Raises `ToolError` with the command's complaint, also where it timed out."""
        project = self._inside(program.project)
        where = ["--project-directory", str(project), "--run-root", str(project / RUNS), "--json"]
        found: list[Path] = []
        with tempfile.TemporaryDirectory(prefix="intelliperf-") as name:
            errand = Errand((*words, *program.words(), *where, "--", *program.command), project, program.minutes * 60)
            ended = await _errand(ctx, errand, Path(name), found)
        if ended.exit_status not in (0, 3) or not found:
            raise ToolError(bounded(ended.complaint, 4000))
        return run_answer(found[0])


async def _errand(ctx: Context[Any, Any], errand: Errand, logs: Path, found: list[Path] | None = None) -> Ended:
    """Its stages become progress; its run directory is put into `found`. A cancelled call stops the command first."""
    worker = _Worker(errand, logs)
    worker.start()
    try:
        step = 0
        while worker.is_alive() or not worker.events.empty():
            while not worker.events.empty():
                event = worker.events.get()
                step += await _heard(ctx, event, step, found)
            await anyio.sleep(_POLL_S)
    finally:
        worker.stop.set()
        with anyio.CancelScope(shield=True):
            while worker.is_alive():
                await anyio.sleep(_POLL_S)
    if worker.problem is not None:
        raise ToolError(bounded(str(worker.problem), 4000))
    if worker.ended is None:
        raise ToolError("the command did not end")
    return worker.ended


async def _heard(ctx: Context[Any, Any], event: Mapping[str, Any], step: int, found: list[Path] | None) -> int:
    """1 where the event was a step."""
    text = str(event.get("text", ""))
    if found is not None and text.startswith(_RUN):
        found.append(Path(text.removeprefix(_RUN)))
    if event["event"] != "stage" or event.get("state") != "begin":
        return 0
    attempt = f" {event['attempt']}" if "attempt" in event else ""
    await ctx.report_progress(step + 1, None, f"{event['stage']}{attempt}")
    return 1


class _Worker(threading.Thread):
    """Waits for the command, so that the server keeps listening."""

    def __init__(self, errand: Errand, logs: Path) -> None:
        super().__init__(daemon=True)
        self.events: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self.stop = threading.Event()
        self.ended: Ended | None = None
        self.problem: Exception | None = None
        self._errand = errand
        self._logs = logs

    def run(self) -> None:
        try:
            self.ended = run_errand(self._errand, self._logs, self.events.put, self.stop.is_set)
        except (IntelliPerfError, OSError) as error:
            self.problem = error


def _bounded_defects(text: str) -> dict[str, Any]:
    """What the check printed, with its first defects, and how many were left out."""
    try:
        table = dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise ToolError(f"the check's answer is not JSON: {error}") from error
    defects = table.get("defects", [])
    return {**table, "defects": defects[:_TABLE_LIMIT], "defects_left_out": max(0, len(defects) - _TABLE_LIMIT)}


def _bounded_table(text: str) -> dict[str, Any]:
    """The emulator's table with the first lines of each kernel, and how many were left out."""
    try:
        table = json.loads(text)
    except ValueError as error:
        raise ToolError(f"the emulator's table is not JSON: {error}") from error
    for kernel in table.get("kernels", []):
        lines = kernel.get("lines", [])
        kernel["lines_left_out"] = max(0, len(lines) - _TABLE_LIMIT)
        kernel["lines"] = lines[:_TABLE_LIMIT]
    return dict(table)
