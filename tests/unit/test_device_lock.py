"""Two searches on one GPU: the second waits, and says for whom."""

from __future__ import annotations

import threading
from pathlib import Path

from intelliperf.processes.devicelock import DeviceLock, lock_path


def test_the_second_run_waits_for_the_first_and_says_so(tmp_path: Path) -> None:
    told: list[str] = []
    asked = threading.Event()

    def tell(text: str) -> None:
        told.append(text)
        asked.set()

    first = DeviceLock(tmp_path / "gpu.lock", "run 20260101 of process 7", told.append)
    second = DeviceLock(tmp_path / "gpu.lock", "another", tell)
    order: list[str] = []

    def wait() -> None:
        with second.held():
            order.append("second")

    with first.held():
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert asked.wait(10)
        with first.held():
            order.append("first")
    waiting.join(10)
    assert order == ["first", "second"]
    assert told == ["the GPU is in use by run 20260101 of process 7: waiting for it"]


def test_a_gpu_has_the_lock_of_its_name() -> None:
    assert lock_path("cuda", {}).name == "intelliperf-cuda-0.lock"
    assert lock_path("cuda", {"CUDA_VISIBLE_DEVICES": "GPU-1a/2,3"}).name == "intelliperf-cuda-GPU-1a-2.lock"
