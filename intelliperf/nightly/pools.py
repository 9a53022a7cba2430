"""Where tasks are done: a pool of processes on this machine, or a Ray cluster. Both do the same with a task."""

from __future__ import annotations

import os
import queue
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

from intelliperf.errors import UsageError
from intelliperf.nightly.tasks import Task, TaskEnd, perform
from intelliperf.processes.process import output_of

_DEVICE_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


class Pool(Protocol):
    """Tasks in, their ends out, in whatever order they come."""

    @property
    def shown(self) -> str: ...

    def submit(self, task: Task) -> None: ...

    def next(self, timeout_s: float) -> TaskEnd | None:
        """The next that ended; None where none did in time."""
        ...

    def close(self) -> None:
        """Waits for what still runs: a caller that wants it to end leaves the mark `tasks.STOP` first."""
        ...


class LocalPool:
    """Each worker is a thread that waits for one `intelliperf` process; a task on a GPU has one GPU for itself."""

    def __init__(self, workers: int | None = None, gpus: Sequence[str] | None = None) -> None:
        self._workers = workers or max(1, (os.cpu_count() or 1) // 2)
        self._threads = ThreadPoolExecutor(self._workers, "night")
        self._ends: queue.Queue[Future[TaskEnd]] = queue.Queue()
        self._gpus: queue.Queue[str] = queue.Queue()
        self._gpu_names = gpus
        self._gpus_known = False

    @property
    def shown(self) -> str:
        return f"{self._workers} worker{'s' if self._workers > 1 else ''} on this machine"

    def submit(self, task: Task) -> None:
        if task.on_gpu and not self._gpus_known:
            self._gpus_known = True
            for name in self._gpu_names if self._gpu_names is not None else local_gpus():
                self._gpus.put(name)
        self._threads.submit(self._perform, task).add_done_callback(self._ends.put)

    def _perform(self, task: Task) -> TaskEnd:
        if not task.on_gpu:
            return perform(task)
        gpu = self._gpus.get()
        try:
            return perform(task, {name: gpu for name in _DEVICE_VARIABLES} if gpu else {})
        finally:
            self._gpus.put(gpu)

    def next(self, timeout_s: float) -> TaskEnd | None:
        try:
            return self._ends.get(timeout=timeout_s).result()
        except queue.Empty:
            return None

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


def local_gpus() -> list[str]:
    """Numbers of this machine's GPUs; one nameless GPU where they cannot be told apart."""
    for variable in _DEVICE_VARIABLES:
        if os.environ.get(variable):
            return os.environ[variable].split(",")
    try:
        done, out, _ = output_of(["nvidia-smi", "--list-gpus"], 20.0)
    except UsageError:  # it is not installed
        return [""]
    names = [str(number) for number, _ in enumerate(out.splitlines())] if done.ok else []
    return names or [""]
