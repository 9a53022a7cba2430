"""The process in which recorded dispatches are launched again on an NVIDIA GPU: `python -m intelliperf.cuda.player`.

    launch PLAN PROGRAM               each dispatch once, on restored memory, for whoever watches
    time PLAN ORIGINAL CANDIDATE …    both programs' kernels in turn, until it is clear which is faster; the candidate's
                                      in the shapes of --other-plan

It loads the device code out of the programs; no host code of theirs runs. All memory lies at the addresses at which the
application had it, so that pointers inside buffers hold. Where the driver has those addresses for itself, memory lies
elsewhere and arguments follow it, or, if a buffer holds a pointer, the process starts anew. Ends with status 124, and
why, where that cannot be.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from intelliperf.cuda.devicecode import Code, Device, Failed, NotHere, device_images
from intelliperf.profiling import pairs
from intelliperf.recordings.contents import HOST_KINDS
from intelliperf.recordings.places import Places, following, words_of

NOT_REPLAYABLE = 124
FAILED = 3
PAIRS = pairs.PairPlan(looks=(20, 40, 80, 160, 320))
PARTS = "INTELLIPERF_EXPORT_PARTS"
_STARTED = "INTELLIPERF_PLAYER_STARTS"
_MOST_STARTS = 8
_RECORDS_S = 5.0  # until CUPTI has told of a launch that is over
_L2_FILLS = 2  # uploads beyond that leave nothing of themselves in the L2
_FLUSH_FORCED = 1  # CUPTI_ACTIVITY_FLAG_FLUSH_FORCED

Memory = Mapping[str, Any]


class Player:
    """The plan's memory on the device, and the launches of one or two programs on it."""

    def __init__(self, plan: Path) -> None:
        """First of all that the process does with the driver, which takes addresses of its own as it starts."""
        self._plan = json.loads(plan.read_text())
        recorded: list[Mapping[str, Any]] = self._plan["dispatches"]
        ranges = ranges_of(recorded)
        self.device = self._device = Device.open()
        self.first_launches = launches_first(self._plan)
        self._image = _mapped(Path(self._plan["image"]))
        self._kept: dict[str, int] = {}  # content by what it is → a copy on the device
        self._staged: dict[tuple[int, int], int] = {}  # place in the image and length → a copy in page-locked memory
        _refuse_host_memory(recorded)
        try:
            self._places = self._device.occupy(ranges)
            if self._places.moved and self._names_places(recorded):
                _start_anew()
            placed = [(self._places.of(base), size) for base, size in ranges]
            os.environ[PARTS] = parts_of(placed)
            self._device.map(placed, self._places.granularity)
        except Failed as error:
            raise NotHere(f"there is no device memory for what was recorded: {error}") from error
        self.dispatches = self.placed(recorded)

    def placed(self, dispatches: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The dispatches, with memory and arguments where they lie now."""
        return [_placed(dispatch, self._places) for dispatch in dispatches] if self._places.moved else [*dispatches]

    def _names_places(self, dispatches: Sequence[Mapping[str, Any]]) -> bool:
        """Does a buffer hold an address of recorded memory?"""
        contents = {
            (at, length)
            for dispatch in dispatches
            for memory in dispatch["memory"]
            if memory["kind"] not in HOST_KINDS
            for _, length, at in memory["parts"]
        }
        return any(self._places.named_in(self._image[at : at + length]) for at, length in contents)

    def load(self, program: Path) -> Code:
        """Raises `NotHere` where the program's device code has not the plan's kernel, or another one of that name."""
        (kernel,) = {dispatch["kernel"] for dispatch in self.dispatches}
        reasons = []
        for image in device_images(program):
            try:
                code = self._device.load(image, kernel)
            except Failed as error:
                reasons.append(str(error))
                continue
            sizes = code.parameter_sizes()
            for dispatch in self.dispatches:
                given = [len(argument) // 2 for argument in dispatch["arguments"]]
                if sizes is not None and sizes != given:
                    raise NotHere("the kernel takes other parameters than in the recording")
            return code
        raise NotHere(f"this version has no kernel {kernel} ({'; '.join(dict.fromkeys(reasons)) or 'no device code'})")

    def restore_all(self, dispatch: Mapping[str, Any], code: Code) -> None:
        """Every buffer and variable as it was before the dispatch."""
        for memory in self._memory_of(dispatch):
            self._upload(memory, code.place_of(memory))
        self._device.synchronize()

    def restore_variables(self, dispatch: Mapping[str, Any], code: Code) -> None:
        """They lie in the code, and are its own initial values where it was just loaded."""
        for memory in self._memory_of(dispatch):
            if "symbol" in memory:
                self._upload(memory, code.place_of(memory))

    def keep_changing(self) -> None:
        """Copies on the device of what has to be restored before each launch."""
        for dispatch in self.dispatches:
            for memory in self._memory_of(dispatch):
                if memory["changes"] and (key := _key(memory)) not in self._kept:
                    self._kept[key] = self._device.allocate(memory["bytes"])
                    self._upload(memory, self._kept[key])
        self._device.synchronize()

    def restore_changing(self, dispatch: Mapping[str, Any], code: Code) -> None:
        """Only what some dispatch changes: the rest stays as `restore_all` left it, in the caches, too."""
        for memory in self._memory_of(dispatch):
            place = code.place_of(memory)
            for start, length in memory["changes"] if place is not None else ():
                self._device.copy(place + start, self._kept[_key(memory)] + start, length)

    def prepare(self, dispatch: Mapping[str, Any], code: Code) -> None:
        """Memory and caches as of an application that uploads its data and launches the kernel for the first time.

        Zeros come first, then contents from the host in the order of allocation, so that the L2 holds what came last.
        More than fills it twice is not uploaded: of that, only what some dispatch changes is restored.
        """
        memories = sorted(self._memory_of(dispatch), key=lambda memory: int(memory["id"]))
        room = _L2_FILLS * self._device.l2_bytes()
        recent: list[tuple[Memory, Sequence[int]]] = []
        for memory, part in reversed([(one, part) for one in memories for part in one["parts"]]):
            room -= part[1]
            if room < 0:
                break
            recent.append((memory, part))
        if room < 0:
            self.restore_changing(dispatch, code)
        else:
            for memory in memories:
                self._zero(memory, code.place_of(memory))
        for memory, (start, length, at) in reversed(recent):
            place = code.place_of(memory)
            if place is not None:
                self._device.upload_async(place + start, self._staging(at, length), length)

    def _staging(self, at: int, length: int) -> int:
        if (at, length) not in self._staged:
            self._staged[at, length] = self._device.page_locked(self._image[at : at + length])
        return self._staged[at, length]

    def _zero(self, memory: Memory, place: int | None) -> None:
        """What of the memory is zero in the recording."""
        if place is None:
            return
        done = 0
        for start, length, _ in memory["parts"]:
            self._device.zero(place + done, start - done)
            done = start + length
        self._device.zero(place + done, memory["bytes"] - done)

    def _memory_of(self, dispatch: Mapping[str, Any]) -> Iterator[Memory]:
        for memory in dispatch["memory"]:
            if memory["kind"] not in HOST_KINDS and memory["bytes"]:
                yield memory

    def _upload(self, memory: Memory, place: int | None) -> None:
        if place is None:  # a variable that this version does without
            return
        self._zero(memory, place)
        for start, length, at in memory["parts"]:
            self._device.upload(place + start, self._image[at : at + length])


def launches_first(plan: Mapping[str, Any]) -> bool:
    """Is each launch of the kernel among the recorded ones, so that the application never launches warm code again?"""
    return bool(plan["launched"] == len(plan["dispatches"]))


def _start_anew() -> None:
    """In place of this process: chance decides what lies where in it. Raises `NotHere` after some of them."""
    started = int(os.environ.get(_STARTED, "1"))
    if started >= _MOST_STARTS:
        raise NotHere(
            f"buffers hold addresses of recorded memory, and in {started} processes these were the driver's own"
        )
    os.environ[_STARTED] = str(started + 1)
    os.execv(sys.executable, sys.orig_argv)


def _refuse_host_memory(dispatches: Sequence[Mapping[str, Any]]) -> None:
    for dispatch in dispatches:
        words = [word for argument in dispatch["arguments"] for word in words_of(bytes.fromhex(argument))]
        for memory in dispatch["memory"]:
            if memory["kind"] not in HOST_KINDS:
                continue
            base = memory.get("address", 0)
            if memory["changes"] or any(base <= word < base + memory["bytes"] for word in words):
                raise NotHere(f"the kernel works on {memory['kind']} memory of the host")


def _placed(dispatch: Mapping[str, Any], places: Places) -> Mapping[str, Any]:
    memory = [
        {**one, "address": places.of(one["address"])} if "symbol" not in one and one["kind"] not in HOST_KINDS else one
        for one in dispatch["memory"]
    ]
    return {**dispatch, "memory": memory, "arguments": [following(one, places) for one in dispatch["arguments"]]}


def _key(memory: Memory) -> str:
    return json.dumps([memory["bytes"], memory["parts"]])


def _mapped(path: Path) -> memoryview:
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        return memoryview(mmap.mmap(file.fileno(), size, prot=mmap.PROT_READ) if size else b"")


def ranges_of(dispatches: Sequence[Mapping[str, Any]]) -> list[tuple[int, int]]:
    """Base and size of all device memory that is named by its address."""
    found = {
        (memory["address"], memory["bytes"])
        for dispatch in dispatches
        for memory in dispatch["memory"]
        if "symbol" not in memory and memory["kind"] not in HOST_KINDS and memory["bytes"]
    }
    return sorted(found)


def parts_of(ranges: Sequence[tuple[int, int]]) -> str:
    """What is said to those who watch the memory being mapped."""
    return ",".join(f"{base}:{size}" for base, size in ranges)


class Clock:
    """Device time of launches, as CUPTI's records of this process tell it."""

    def __init__(self, device: Device, records: str, cupti: str, passed_over: str) -> None:
        self._device = device
        self._path = Path(f"{records}.{os.getpid()}")
        self._cupti = device.load_shared(cupti)
        self._passed_over = passed_over
        self._read = 0

    def launched(self, count: int) -> list[int]:
        """Nanoseconds of each of the `count` launches since the last call."""
        self._device.synchronize()
        found: list[tuple[int, int]] = []
        begun = time.monotonic()
        while len(found) < count:
            self._cupti.cuptiActivityFlushAll(_FLUSH_FORCED)
            found += self._new()
            if time.monotonic() - begun > _RECORDS_S:
                raise Failed(f"CUPTI tells of {len(found)} launches instead of {count}")
        return [end - start for start, end in sorted(found)]

    def _new(self) -> Iterator[tuple[int, int]]:
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._read)
            content = file.read()
        whole = content[: content.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            record = json.loads(line)
            if record["type"] == "kernel" and record["kernel"] != self._passed_over:
                yield record["start_ns"], record["end_ns"]


def launch_each(plan: Path, program: Path) -> None:
    player = Player(plan)
    code = player.load(program)
    for dispatch in player.dispatches:
        player.restore_all(dispatch, code)
        code.launch(dispatch)
        code.device.synchronize()


def time_both(
    plans: Sequence[Path], programs: Sequence[Path], clock_of: Callable[[Device], Clock], budget_s: float, repeats: int
) -> list[list[tuple[float, float]]]:
    """Pairs of nanoseconds, all recorded dispatches together; `repeats` such lists. Plans differ in shapes alone."""
    player = Player(plans[0])
    launches = [player.placed(json.loads(plan.read_text())["dispatches"]) for plan in plans]
    codes = [player.load(program) for program in programs]
    player.keep_changing()
    for code in codes:
        player.restore_all(player.dispatches[0], code)
    clock = clock_of(player.device)

    def first(side: int) -> pairs.Sample:
        """The code is loaded anew, as in an application that launches it for the first time."""
        code = codes[side] = codes[side].anew()
        player.restore_variables(player.dispatches[0], code)
        for number, dispatch in enumerate(launches[side]):
            if number:
                player.restore_changing(dispatch, code)
            else:
                player.prepare(dispatch, code)
            code.launch(dispatch)
        return sampled(1)

    def often(side: int) -> pairs.Sample:
        """The last round counts: where an application launches a kernel often, its code is in the caches."""
        for _ in range(2):
            for dispatch in launches[side]:
                player.restore_changing(dispatch, codes[side])
                codes[side].launch(dispatch)
        return sampled(2)

    def sampled(rounds: int) -> pairs.Sample:
        spent = clock.launched(rounds * len(player.dispatches))[-len(player.dispatches) :]
        return pairs.Sample(float(sum(spent)), float(sum(spent)))

    sample = first if player.first_launches else often

    found = []
    for _ in range(repeats):
        compared = pairs.compare(lambda: sample(0), lambda: sample(1), budget_s, PAIRS)
        found.append([(pair.baseline.kernel_ns, pair.candidate.kernel_ns) for pair in compared.pairs])
    return found


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="intelliperf.cuda.player")
    parser.add_argument("what", choices=("launch", "time"))
    parser.add_argument("plan", type=Path)
    parser.add_argument("programs", type=Path, nargs="+")
    parser.add_argument("--other-plan", type=Path)
    parser.add_argument("--records", default="")
    parser.add_argument("--cupti", default="")
    parser.add_argument("--passed-over", default="")
    parser.add_argument("--budget", type=float, default=10.0)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args(arguments)
    try:
        if given.what == "launch":
            launch_each(given.plan, given.programs[0])
        else:
            found = time_both(
                (given.plan, given.other_plan or given.plan),
                given.programs,
                lambda device: Clock(device, given.records, given.cupti, given.passed_over),
                given.budget,
                given.repeats,
            )
            given.out.write_text(json.dumps(found))
    except NotHere as error:
        print(f"intelliperf: cannot replay: {error}", file=sys.stderr)  # noqa: T201
        return NOT_REPLAYABLE
    except Failed as error:
        print(f"intelliperf: the replay fails: {error}", file=sys.stderr)  # noqa: T201
        return FAILED
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
