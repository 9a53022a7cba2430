"""What a program seeds its input by is the same in each of its runs, so that these can be compared."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from inprocess import build_here
from profile_programs import RUN_DEADLINE_S, Program, build
from rulebench import output

from intelliperf.processes.process import output_of

SOURCE = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <random>
__global__ void nothing() {}
int main() {
  nothing<<<1, 1>>>();
  (void)hipDeviceSynchronize();
  std::random_device first, second("default");
  std::mt19937 random(first());
  std::printf("%lu %u %u\\n", (unsigned long)random(), first(), second());
}
"""


def test_numbers_of_a_random_device_differ_in_one_run_and_not_from_run_to_run(tmp_path: Path) -> None:
    printed = output(tmp_path / "one", {"app.hip": SOURCE})
    assert printed == output(tmp_path / "other", {"app.hip": SOURCE})
    assert len(set(printed.split())) == 3


SECONDS = """
#include <hip/hip_runtime.h>
#include <cstdio>
#include <ctime>
int main() {
  (void)hipDeviceSynchronize();
  time_t now;
  const time_t same = time(&now);
  std::printf("%lld %lld\\n", (long long)now, (long long)(now - same));
}
"""


def test_compared_runs_begin_in_the_second_that_they_are_told(tmp_path: Path) -> None:
    (tmp_path / "app.hip").write_text(SECONDS)
    build_here("hipcc", "app.hip", "-o", "app", directory=tmp_path)
    printed = {
        began: output_of([str(tmp_path / "app")], 60.0, {"INTELLIPERF_BEGAN": began}, tmp_path)[1].split()
        for began in ("1000000000", "")
    }
    assert 0 <= int(printed["1000000000"][0]) - 1000000000 < 60
    assert abs(int(printed[""][0]) - time.time()) < 60
    assert all(difference == "0" for _, difference in printed.values())


WAITING = """
#include <hip/hip_runtime.h>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>
int main() {
  (void)hipDeviceSynchronize();
  timespec until{time(nullptr) + 2, 0};
  const auto start = std::chrono::steady_clock::now();
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  pthread_mutex_lock(&mutex);
  while (pthread_cond_timedwait(&condition, &mutex, &until) == 0) {}
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  until.tv_sec = time(nullptr) + 1;
  const bool timed_out = sem_timedwait(&semaphore, &until) != 0;
  const auto waited = std::chrono::steady_clock::now() - start;
  const time_t limit = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now()) + 1;
  while (time(nullptr) < limit) usleep(500);
  std::printf("%d\\n", timed_out && waited > std::chrono::milliseconds(1000) && waited < std::chrono::seconds(8));
}
"""


def test_waits_for_a_moment_end_when_it_comes(tmp_path: Path) -> None:
    (tmp_path / "app.hip").write_text(WAITING)
    build_here("hipcc", "app.hip", "-o", "app", directory=tmp_path)
    for began in ("1000000000", str(int(time.time()) + 1000), ""):
        ended, printed, errors = output_of([str(tmp_path / "app")], 60.0, {"INTELLIPERF_BEGAN": began}, tmp_path)
        assert ended.ok and printed == "1\n", (began, printed, errors)


ASKED = """
#include <hip/hip_runtime.h>
#include <ctime>
#include <random>
__global__ void nothing() {}
int main(int count, char** given) {
  if (count == 2) (void)(given[1][0] == 't' ? (unsigned)time(nullptr) : std::random_device()());
  nothing<<<1, 1>>>();
  (void)hipDeviceSynchronize();
  return time(nullptr) < 0;
}
"""


@pytest.mark.parametrize(
    ("argument", "told"), [("t", "the time of day"), ("r", "random numbers of the machine"), ("", "")]
)
def test_what_is_asked_before_a_launch_and_differs_from_run_to_run_is_told(
    asking: Program, argument: str, told: str
) -> None:
    command = ("./app", argument) if argument else ("./app",)
    notes = asking.backend.profile(replace(asking.application, command=command), RUN_DEADLINE_S).notes
    found = [note.partition(" before it launches")[0] for note in notes if "asks for" in note]
    assert found == ([f"the program asks for {told}"] if told else [])


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Program:
    directory = tmp_path_factory.mktemp("asking") / "project"
    directory.mkdir()
    (directory / "app.hip").write_text(ASKED)
    return build(directory, [["hipcc", "app.hip", "-o", "app"]], ["./app"])
