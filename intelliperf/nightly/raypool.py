"""A Ray cluster as a pool. Ray restarts a task whose worker or node is lost; the task takes up what that one left.

All nodes have to see the night's directory and the targets at the same paths, and to have the same intelliperf. A head
that finds a token, from Ray 2.60 on even one that another cluster left in ~/.ray, asks for it.
"""

from __future__ import annotations

import os
from typing import Any

import ray

from intelliperf.errors import BackendUnavailable
from intelliperf.nightly.tasks import Task, TaskEnd, TaskState, perform, read_task, spelled
from intelliperf.project.codec import decode, encode


def _perform(task: dict[str, object]) -> Any:
    """In a worker. Plain values cross: a cluster with another version of our records says so."""
    return encode(perform(read_task(task)))


class RayPool:
    """`address`: "auto" for the cluster that this machine belongs to, "local" for one of its own, or host:port."""

    def __init__(self, address: str, retries: int) -> None:
        self._address = address
        started = None if address == "local" else address
        environment = {"env_vars": {"PYTHONPATH": os.environ.get("PYTHONPATH", "")}} if address != "local" else None
        try:
            ray.init(address=started, log_to_driver=False, runtime_env=environment, configure_logging=False)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise BackendUnavailable(
                f"no Ray cluster at {address}: {str(error).splitlines()[0]}; start one with `ray start --head`, or, "
                "where the cluster asks for a token, set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN"
            ) from error
        self._perform = ray.remote(max_retries=retries)(_perform)
        self._waiting: dict[Any, Task] = {}

    @property
    def shown(self) -> str:
        resources = ray.cluster_resources()
        cpus, gpus = resources.get("CPU", 0), resources.get("GPU", 0)
        return f"Ray at {self._address} with {len(ray.nodes())} nodes, {cpus:g} CPUs and {gpus:g} GPUs"

    def submit(self, task: Task) -> None:
        """One CPU a task, and one GPU where it needs one, which Ray makes the only one that it sees."""
        options = self._perform.options(num_cpus=1, num_gpus=1 if task.on_gpu else 0, name=task.id)
        self._waiting[options.remote(spelled(task))] = task

    def next(self, timeout_s: float) -> TaskEnd | None:
        if not self._waiting:
            return None
        ready, _ = ray.wait(list(self._waiting), num_returns=1, timeout=timeout_s)
        if not ready:
            return None
        task = self._waiting.pop(ready[0])
        try:
            return decode(TaskEnd, ray.get(ready[0]))
        except ray.exceptions.RayTaskError as error:
            problem = str(error).strip().splitlines()[-1]
            return TaskEnd(task.id, TaskState.FAILED, problem, None, 0.0, None)
        except ray.exceptions.RayError as error:
            problem = f"its worker was lost: {str(error).strip().splitlines()[0]}"
            return TaskEnd(task.id, TaskState.LOST, problem, None, 0.0, None)

    def close(self) -> None:
        """What runs has seen the mark `tasks.STOP` by then, or is forgotten with the connection."""
        if ray.is_initialized():
            for reference in self._waiting:
                ray.cancel(reference)
            if self._waiting:
                ray.wait(list(self._waiting), num_returns=len(self._waiting), timeout=30)
            ray.shutdown()
        self._waiting.clear()
