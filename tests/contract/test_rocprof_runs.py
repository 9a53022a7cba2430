"""The whole way over the stand-in: invocation, packing, files of every release, matching, quantities, failures."""

from __future__ import annotations

import sqlite3
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from rocprofapps import COPY, STANDIN, TILE, WAVES, application, copy, dispatch, tile

from intelliperf.errors import ApplicationFailed, BackendUnavailable, MissingMetric, UsageError
from intelliperf.formulas.bank_conflict import BankConflict
from intelliperf.formulas.memory_access import MemoryAccess
from intelliperf.processes.process import output_of, run
from intelliperf.profiling.rocprofv3 import (
    CountersAsleep,
    CountersDenied,
    NoSampling,
    NoThreadTrace,
    Rocprof,
    application_profile,
    by_line,
    collect,
    find_rocprof,
    read_agents,
    read_counters,
    read_trace,
    sample_pcs,
    tool,
    trace,
    trace_threads,
)
from intelliperf.profiling.rocprofv3.diagnosis import check_run
from intelliperf.records import Application, Device, DeviceLimits, Metric
from intelliperf.rocm import counters
from intelliperf.rocm.codeobject import Accesses

RELEASES = ("6.2", "6.3", "6.4", "7.0")
DEADLINE_S = 60.0
LIMITS = DeviceLimits(110, 1.7e9, 32, 65536, 65536, 32, 131072, 16384, 2**23, 1.6384e12, None, None)
DEVICE = Device("amd", "gfx90a", "software gfx90a", 64, True, LIMITS)


def rocprof_of(release: str) -> Rocprof:
    return Rocprof(STANDIN, (int(release[0]), int(release[2])))


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    chosen = str(request.param)
    monkeypatch.setenv("ROCPROFV3_STANDIN_VERSION", chosen)
    return chosen


def simple(directory: Path) -> Application:
    blit = dispatch(2, "__amd_rocclr_copyBuffer", [], end_ns=22000)
    return application(directory, [copy(0), tile(1), blit, copy(3), dispatch(4, None, [])])


def test_a_trace_of_every_release_ranks_the_kernels(tmp_path: Path, release: str) -> None:
    seen = trace(rocprof_of(release), simple(tmp_path), DEADLINE_S, tmp_path / "logs")
    assert [one.symbol for one in seen.dispatches] == [COPY, TILE, "__amd_rocclr_copyBuffer", COPY]
    assert (seen.dispatches[0].vgprs is None) == (release == "6.2")
    assert seen.agents[0].architecture == "gfx90a" and seen.agents[0].compute_units == 110
    profile = application_profile(seen, demangle=lambda names: list(names))
    assert [(kernel.kernel.symbol, kernel.dispatches) for kernel in profile.kernels] == [(COPY, 2), (TILE, 1)]
    assert profile.device_time_ns == 5000 + 10000 + 1000 + 5000
    assert profile.kernels[1].quantity(Metric.LDS_BYTES).value == 4096
    assert seen.exit_status == 0


@pytest.mark.parametrize("release", ["6.2", "7.0"], indirect=True)
def test_counters_of_the_oldest_and_the_newest_release_become_the_same_quantities(tmp_path: Path, release: str) -> None:
    rocprof, app = rocprof_of(release), simple(tmp_path)
    profile = application_profile(trace(rocprof, app, DEADLINE_S, tmp_path / "trace"))
    wanted = (*counters.needed("gfx90a"), "SQ_NOT_OF_THIS_CHIP")
    counted = collect(rocprof, app, [COPY, TILE], wanted, "gfx90a", DEADLINE_S, tmp_path / "counters")
    assert len(list((tmp_path / "counters").glob("pass*.stdout"))) == 3, "as many runs as the fullest block needs"
    assert counted.unknown == {"SQ_NOT_OF_THIS_CHIP"}
    assert [one.symbol for one in counted.dispatches] == [COPY, TILE, COPY]
    code = {COPY: Accesses(frozenset({8}), frozenset({8})), TILE: Accesses(lds_moves=True)}
    copied, tiled = (
        counters.with_quantities(kernel, counted, code[kernel.kernel.symbol], DEVICE) for kernel in profile.kernels
    )
    assert copied.quantity(Metric.L1_L2_BYTES).value == copied.quantity(Metric.BYTES_AT_MOST).value == 2 * 16384 * 8
    assert MemoryAccess().diagnose(copied, DEVICE) is None
    assert tiled.quantity(Metric.LDS_PHASES).value == 32 * tiled.quantity(Metric.LDS_PHASES_IDEAL).value
    assert any("SQ_NOT_OF_THIS_CHIP" in note for note in tiled.notes)
    assert tiled.quantity(Metric.OCCUPANCY_RATIO).value == pytest.approx(WAVES / (110 * 32))


def test_a_scattered_copy_and_a_conflicting_tile_are_found_on_the_way(tmp_path: Path) -> None:
    rocprof = rocprof_of("7.0")
    slow_tile = tile(1)
    slow_tile["instructions"][0].update(lds_cycles=3200 * 256, lds_cycles_ideal=100 * 256)
    scattered = copy(0, lines_per_store=64)
    scattered["instructions"][2].update(executions=256 * 16, lanes=256 * 16 * 64, lines=256 * 16 * 64)
    app = application(tmp_path, [scattered, slow_tile])
    profile = application_profile(trace(rocprof, app, DEADLINE_S, tmp_path / "trace"))
    counted = collect(
        rocprof, app, [COPY, TILE], counters.needed("gfx90a"), "gfx90a", DEADLINE_S, tmp_path / "counters"
    )
    kernels = {kernel.kernel.symbol: kernel for kernel in profile.kernels}
    code = {COPY: Accesses(frozenset({8}), frozenset({8})), TILE: Accesses(lds_moves=True)}
    judged = {name: counters.with_quantities(kernels[name], counted, code[name], DEVICE) for name in kernels}
    finding = MemoryAccess().diagnose(judged[COPY], DEVICE)
    assert finding is not None and "were not asked for" in finding.sentence
    finding = BankConflict().diagnose(judged[TILE], DEVICE)
    assert finding is not None and "32.0×" in finding.sentence


@pytest.mark.parametrize("format_name", ["csv", "json", "rocpd"])
def test_all_three_formats_of_one_run_tell_the_same(tmp_path: Path, format_name: str) -> None:
    app = application(tmp_path, [copy(0), tile(1)])
    read = {}
    for name in ("csv", format_name):
        output = tmp_path / f"out-{name}"
        argv = [str(STANDIN), "--kernel-trace", "--pmc", "SQ_WAVES", "SQ_INSTS_LDS", "--mangled-kernels"]
        argv += ["--output-format", name, "-d", str(output), "-o", "run", "--", *app.command]
        assert run(argv, tmp_path, DEADLINE_S, tmp_path / "logs", name).ok
        counted = read_counters(output, ["SQ_WAVES", "SQ_INSTS_LDS"])
        seen = read_trace(output)
        read[name] = (
            [(one.symbol, one.shape, one.number, one.values, one.vgprs, one.lds_bytes) for one in counted],
            [replace(one, process="") for one in seen.dispatches],
            seen.agents,
        )
    assert read["csv"] == read[format_name]
    assert read["csv"][0][1][3] == {"SQ_WAVES": 256.0, "SQ_INSTS_LDS": 256.0}


def test_a_database_without_the_vendors_views_is_read_from_its_tables(tmp_path: Path) -> None:
    app = application(tmp_path, [copy(0), tile(1)])
    argv = [str(STANDIN), "--kernel-trace", "--pmc", "SQ_WAVES", "--mangled-kernels", "-d", str(tmp_path / "out")]
    done = run([*argv, "-o", "run", "--", *app.command], tmp_path, DEADLINE_S, tmp_path / "logs", "run")
    assert done.ok, "without a format, ROCm 7 writes a database"
    before = (read_trace(tmp_path / "out"), read_counters(tmp_path / "out"))
    (path,) = (tmp_path / "out").glob("*.db")
    with sqlite3.connect(path) as database:
        for view in ("kernels", "kernel_symbols", "counters_collection", "memory_copies"):
            database.execute(f"DROP VIEW {view}")
    assert (read_trace(tmp_path / "out"), read_counters(tmp_path / "out")) == before
    assert read_agents(tmp_path / "out")[0].architecture == "gfx90a"


def test_directories_per_host_and_process_are_searched(tmp_path: Path) -> None:
    app = application(tmp_path, [copy(0)])
    argv = [str(STANDIN), "--kernel-trace", "--output-format", "csv", "-d", str(tmp_path / "out"), "--", *app.command]
    assert run(argv, tmp_path, DEADLINE_S, tmp_path / "logs", "run").ok
    assert not list((tmp_path / "out").glob("*.csv")), "without -o the files lie in a directory of the host"
    assert len(read_trace(tmp_path / "out").dispatches) == 1


def test_a_missing_counter_is_named_with_its_file(tmp_path: Path) -> None:
    app = application(tmp_path, [copy(0)])
    argv = [str(STANDIN), "--pmc", "SQ_WAVES", "--output-format", "csv", "-d", str(tmp_path / "out"), "-o", "run", "--"]
    assert run([*argv, *app.command], tmp_path, DEADLINE_S, tmp_path / "logs", "run").ok
    with pytest.raises(MissingMetric, match=r"run_counter_collection\.csv: TCC_HIT_sum has no value for dispatch 1"):
        read_counters(tmp_path / "out", ["SQ_WAVES", "TCC_HIT_sum"])


def collected(tmp_path: Path, app: Application, names: tuple[str, ...] = ("SQ_WAVES",), deadline_s: float = 60.0):  # type: ignore[no-untyped-def]
    return collect(rocprof_of("7.0"), app, [COPY], names, "gfx90a", deadline_s, tmp_path / "logs")


def test_a_set_that_does_not_fit_and_aborts_in_the_application_is_halved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_SLOTS", "SQ=2")
    names = ("SQ_WAVES", "SQ_INSTS", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_LDS")
    counted = collected(tmp_path, application(tmp_path, [copy(0)]), names)
    assert set(counted.dispatches[0].values) == set(names)
    assert any("aborted inside the application" in note and "do not fit" in note for note in counted.notes)


def test_a_single_counter_that_does_not_fit_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_SLOTS", "SQ=0")
    with pytest.raises(BackendUnavailable, match="do not fit into one pass on this device: SQ_WAVES"):
        collected(tmp_path, application(tmp_path, [copy(0)]))


def test_a_hang_ends_at_the_deadline_and_leaves_nothing_alive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = time.monotonic()
    collected(tmp_path, application(tmp_path, [copy(0)]))
    usual_s = time.monotonic() - before
    monkeypatch.setenv("ROCPROFV3_STANDIN_FAILS", "hang")
    alive = tmp_path / "alive"
    body = (
        f"import time\nwhile True:\n    pathlib.Path({str(alive)!r}).write_text(str(time.time()))\n    time.sleep(0.05)"
    )
    app = application(tmp_path, [copy(0)], body)
    with pytest.raises(ApplicationFailed, match=r"timed out after .* while counting SQ_WAVES.*killed with all its"):
        collected(tmp_path / "second", app, deadline_s=1.0 + 3 * usual_s)
    last = alive.read_text()
    time.sleep(0.3)
    assert alive.read_text() == last, "the application kept running after the profiler was killed"


def test_counters_that_are_all_zero_are_no_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_FAILS", "zeros")
    with pytest.raises(CountersAsleep, match="reads zero on gfx90a"):
        collected(tmp_path, application(tmp_path, [copy(0)]))


def test_missing_permission_names_the_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_FAILS", "permission")
    with pytest.raises(CountersDenied, match="kfd"):
        collected(tmp_path, application(tmp_path, [copy(0)]))


def test_a_gpu_without_counters_beside_the_real_one_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_FAILS", "no-counters-on-gpu")
    with pytest.raises(BackendUnavailable, match="ROCR_VISIBLE_DEVICES"):
        collected(tmp_path, application(tmp_path, [copy(0)]))


def test_no_file_at_all_means_that_the_runtime_was_never_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_FAILS", "no-files")
    with pytest.raises(BackendUnavailable, match="never loaded the HSA runtime"):
        trace(rocprof_of("7.0"), application(tmp_path, [copy(0)]), DEADLINE_S, tmp_path / "trace")
    with pytest.raises(BackendUnavailable, match="left no file"):
        collected(tmp_path, application(tmp_path, [copy(0)]))


def test_no_counter_file_means_that_the_kernel_did_not_run(tmp_path: Path) -> None:
    with pytest.raises(ApplicationFailed, match="dispatched no such kernel"):
        collected(tmp_path, application(tmp_path, [tile(0)]))


def test_an_application_that_fails_is_not_blamed_on_the_profiler(tmp_path: Path) -> None:
    with pytest.raises(ApplicationFailed, match="exit status 3"):
        trace(rocprof_of("7.0"), application(tmp_path, [copy(0)], "sys.exit(3)"), DEADLINE_S, tmp_path / "logs")
    at_the_end = "import atexit; atexit.register(os._exit, 3)"  # when it has written
    expected = replace(application(tmp_path, [copy(0)], at_the_end), exit_status=3)
    assert trace(rocprof_of("7.0"), expected, DEADLINE_S, tmp_path / "expected").exit_status == 3
    with pytest.raises(ApplicationFailed, match="exit status 0, not 3"):
        ended = replace(application(tmp_path, [copy(0)]), exit_status=3)
        trace(rocprof_of("7.0"), ended, DEADLINE_S, tmp_path / "ended")


def test_an_applications_own_missing_permission_is_its_own(tmp_path: Path) -> None:
    body = "sys.exit('cannot open results.txt: Permission denied')"
    with pytest.raises(ApplicationFailed, match=r"fails under .*results\.txt"):
        collected(tmp_path, application(tmp_path, [copy(0)], body))


def test_runs_that_do_not_do_the_same_cannot_be_put_together(tmp_path: Path) -> None:
    body = f"ran = pathlib.Path({str(tmp_path)!r}) / 'ran'\nif ran.exists():\n    lines = lines[:1]\nran.write_text('')"
    app = application(tmp_path, [copy(0), copy(1)], body)
    with pytest.raises(ApplicationFailed, match=r"not do the same in every run.*dispatch 2 of _Z4copyPdPKd"):
        collected(tmp_path, app, ("GRBM_COUNT", "SQ_INSTS", "TCC_HIT_sum", *FIVE_OF_TCP))


FIVE_OF_TCP = (
    "TCP_TCC_READ_REQ_sum",
    "TCP_TCC_WRITE_REQ_sum",
    "TCP_TOTAL_CACHE_ACCESSES_sum",
    "TCP_GATE_EN1_sum",
    "TCP_TCC_ATOMIC_WITH_RET_REQ_sum",
)


def test_a_tools_library_and_the_profiler_are_never_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    app = application(tmp_path, [copy(0)])
    with pytest.raises(UsageError, match="HSA_TOOLS_LIB=/x/lib.so"):
        trace(
            rocprof_of("7.0"), replace(app, environment=(("HSA_TOOLS_LIB", "/x/lib.so"),)), DEADLINE_S, tmp_path / "a"
        )
    monkeypatch.setenv("HSA_TOOLS_LIB", "other.so")
    with pytest.raises(UsageError, match=r"HSA_TOOLS_LIB=other\.so"):
        trace(rocprof_of("7.0"), app, DEADLINE_S, tmp_path / "b")


def test_a_launcher_goes_before_the_profiler(tmp_path: Path) -> None:
    app = application(tmp_path, [copy(0)])
    seen = trace(rocprof_of("7.0"), app, DEADLINE_S, tmp_path / "logs", launcher=("env", "LAUNCHED=1"))
    assert len(seen.dispatches) == 1


def test_unknown_options_and_those_of_a_later_release_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done, _, err = output_of([str(STANDIN), "--kernel-traces", "--", "true"], DEADLINE_S)
    assert not done.ok and "unrecognized arguments: --kernel-traces" in err
    monkeypatch.setenv("ROCPROFV3_STANDIN_VERSION", "6.2")
    with pytest.raises(BackendUnavailable, match="does not know --pmc"):
        collected(tmp_path, application(tmp_path, [copy(0)]))


def test_the_release_is_told_by_the_tool_or_by_the_note_of_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_rocprof(STANDIN).version == (7, 0)
    old = tmp_path / "rocm"
    (old / "bin").mkdir(parents=True)
    program = old / "bin" / "rocprofv3"
    asked = tmp_path / "asked"
    program.write_text(f'#!/bin/sh\necho >>{asked}\nexport ROCPROFV3_STANDIN_VERSION=6.2\nexec {STANDIN} "$@"\n')
    program.chmod(0o755)
    with pytest.raises(BackendUnavailable, match=r"does not tell its version \(rocprofv3: error: unrecognized"):
        find_rocprof(program)
    (old / ".info").mkdir()
    (old / ".info" / "version").write_text("6.2.1-77\n")
    assert find_rocprof(program).version == (6, 2)
    assert find_rocprof(environment={"PATH": str(program.parent)}).program == program
    assert find_rocprof(environment={"PATH": "", "ROCM_PATH": str(old)}).program == program
    assert asked.read_text() == "\n", "the tool is started once for its version"
    (old / ".info" / "version").write_text("6.1.3-50\n")
    with pytest.raises(BackendUnavailable, match=r"of ROCm 6\.1: install 6\.2 or later"):
        find_rocprof(program)
    with pytest.raises(BackendUnavailable, match="install ROCm 6.2 or later"):
        find_rocprof(environment={"PATH": str(tmp_path)})


@pytest.mark.parametrize("method", ["host_trap", "stochastic"])
def test_samples_are_taken_by_either_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_STOCHASTIC", "1")
    monkeypatch.setenv("ROCPROFV3_STANDIN_LONGER", "1000")
    interval = 20 if method == "host_trap" else 16384
    samples = sample_pcs(
        rocprof_of("7.0"), application(tmp_path, [copy(0), tile(1)]), method, interval, DEADLINE_S, tmp_path / "logs"
    )
    assert {sample.symbol for sample in samples} == {COPY, TILE}
    waiting = [sample for sample in samples if sample.instruction == "s_waitcnt lgkmcnt(0)"]
    assert waiting and all(sample.symbol == TILE and sample.dispatch == 2 for sample in waiting)
    (line,) = by_line(sample for sample in samples if sample.symbol == TILE)
    assert (line.file, line.line, line.lanes) == ("kernel.hip", 7, 64 * line.samples)
    assert line.stalls.get("waitcnt", 0) == (len(waiting) if method == "stochastic" else 0)


@pytest.mark.parametrize(
    ("release", "architecture", "method", "lacking"),
    [
        ("6.4", "gfx942", "host_trap", None),
        ("6.4", "gfx942", "stochastic", r"ROCm 6\.4 takes no stochastic samples: install 7\.0"),
        ("7.0", "gfx942", "stochastic", None),
        ("7.0", "gfx90a", "stochastic", "no stochastic samples on gfx90a, only on gfx942"),
        ("6.2", "gfx90a", "host_trap", r"ROCm 6\.2 takes no host trap samples: install 6\.3"),
        ("7.0", "gfx1151", "host_trap", "no host trap samples on gfx1151, only on gfx1200"),
        ("7.0", "gfx1151", "threads", None),
        ("6.4", "gfx90a", "threads", r"ROCm 6\.4 takes no thread traces: install 7\.0"),
        ("7.0", "gfx906", "threads", "no thread traces on gfx906, only on gfx1030"),
    ],
)
def test_where_a_way_cannot_work_it_is_said_by_name(
    release: str, architecture: str, method: str, lacking: str | None
) -> None:
    with pytest.raises(BackendUnavailable, match=lacking) if lacking else nullcontext():
        if method == "threads":
            tool.check_thread_trace(rocprof_of(release), architecture)
        else:
            tool.check_sampling(rocprof_of(release), architecture, method)


def test_a_thread_trace_is_of_the_kernel_that_was_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = application(tmp_path, [copy(0), tile(1), tile(2)])
    monkeypatch.setenv("ROCPROF_ATT_LIBRARY_PATH", str(tmp_path))
    traced = trace_threads(rocprof_of("7.0"), program, TILE, "gfx90a", DEADLINE_S, tmp_path / "logs")
    assert {one.symbol for one in traced} == {TILE}
    assert all(one.hits and one.latency_cycles >= one.stall_cycles for one in traced)
    assert not list((tmp_path / "logs").rglob("code.json")), "what only a viewer reads is not kept"


def test_a_thread_trace_without_its_decoder_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROCPROF_ATT_LIBRARY_PATH", raising=False)
    program = application(tmp_path, [tile(0)])
    with pytest.raises(NoThreadTrace, match=r"rocprof-trace-decoder .* ROCPROF_ATT_LIBRARY_PATH"):
        trace_threads(rocprof_of("7.0"), program, TILE, "gfx90a", DEADLINE_S, tmp_path / "logs")


def test_a_device_that_takes_no_samples_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPROFV3_STANDIN_FAILS", "sampling")
    program = application(tmp_path, [copy(0)])
    with pytest.raises(NoSampling, match="recent driver.*rocprofv3-avail info --pc-sampling"):
        sample_pcs(rocprof_of("7.0"), program, "host_trap", 100, DEADLINE_S, tmp_path / "logs")


def test_the_switch_that_enables_sampling_is_asked_for_by_name(tmp_path: Path) -> None:
    program = application(tmp_path, [copy(0)])
    asked = [word for word in tool.sampling_request("host_trap", 100) if word != "--pc-sampling-beta-enabled"]
    done = run([str(STANDIN), *asked, "--", *program.command], tmp_path, DEADLINE_S, tmp_path / "logs", "run")
    with pytest.raises(NoSampling, match="ROCPROFILER_PC_SAMPLING_BETA_ENABLED=ON"):
        check_run(done, program, rocprof_of("7.0"))


def test_too_short_a_kernel_leaves_no_samples(tmp_path: Path) -> None:
    with pytest.raises(BackendUnavailable, match="runs longer than the interval"):
        sample_pcs(
            rocprof_of("7.0"), application(tmp_path, [copy(0)]), "host_trap", 10**6, DEADLINE_S, tmp_path / "logs"
        )
