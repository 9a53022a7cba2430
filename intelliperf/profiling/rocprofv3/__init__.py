"""rocprofv3 as a library: run it on an application, read its files, say what is wrong in clear words.

    rocprof = find_rocprof()
    application = Application(("./app",), project, project)
    profile = application_profile(trace(rocprof, application, 60.0, logs))
    kernels = [kernel.kernel.symbol for kernel in profile.kernels]
    counted = collect(rocprof, application, kernels, ["SQ_WAVES", "TCC_HIT_sum"], "gfx90a", 60.0, logs)
    counted.dispatches[0].values["SQ_WAVES"]

The application is run once for the trace and once per pass of counters, in its own process group and with a deadline:
`trace`, `collect`, `sample_pcs`, `trace_threads`.

Readers work without the tool, on recordings of ROCm 6.2 to 7.x. `read_trace`, `read_counters`, `read_agents` and
`read_samples` take a directory or a file, whether CSV, JSON or rocpd. One format each: `parse_kernel_trace`,
`parse_counters`, `parse_copies`, `parse_agents`, `parse_pc_samples` and `parse_thread_trace` take CSV's text,
`JsonRecording` a JSON file's, and `read_dispatches`, `read_copies` a rocpd database.

No counter is ever guessed: what is absent raises, naming file and column. Nothing but the standard library is needed.
"""

from intelliperf.profiling.rocprofv3.blocks import SLOTS, base_name, block_of
from intelliperf.profiling.rocprofv3.csvfiles import parse_agents, parse_copies, parse_counters, parse_kernel_trace
from intelliperf.profiling.rocprofv3.database import read_copies, read_dispatches
from intelliperf.profiling.rocprofv3.diagnosis import (
    CountersAsleep,
    CountersDenied,
    NoSampling,
    NoThreadTrace,
    TooManyCounters,
    permission_problem,
)
from intelliperf.profiling.rocprofv3.files import read_agents, read_counters, read_samples, read_trace
from intelliperf.profiling.rocprofv3.jsonfile import JsonRecording
from intelliperf.profiling.rocprofv3.packing import pack
from intelliperf.profiling.rocprofv3.profiles import application_profile
from intelliperf.profiling.rocprofv3.recordings import (
    Agent,
    Copy,
    Counted,
    CountedDispatch,
    Dispatch,
    PcSample,
    Shape,
    Trace,
    TracedInstruction,
)
from intelliperf.profiling.rocprofv3.runs import collect, sample_pcs, trace, trace_threads
from intelliperf.profiling.rocprofv3.sampling import (
    LineCycles,
    LineSamples,
    by_line,
    cycles_by_line,
    parse_pc_samples,
    parse_thread_trace,
)
from intelliperf.profiling.rocprofv3.tool import Rocprof, check_sampling, find_rocprof

__all__ = [
    "SLOTS",
    "Agent",
    "Copy",
    "Counted",
    "CountedDispatch",
    "CountersAsleep",
    "CountersDenied",
    "Dispatch",
    "JsonRecording",
    "LineCycles",
    "LineSamples",
    "NoSampling",
    "NoThreadTrace",
    "PcSample",
    "Rocprof",
    "Shape",
    "TooManyCounters",
    "Trace",
    "TracedInstruction",
    "application_profile",
    "base_name",
    "block_of",
    "by_line",
    "check_sampling",
    "collect",
    "cycles_by_line",
    "find_rocprof",
    "pack",
    "parse_agents",
    "parse_copies",
    "parse_counters",
    "parse_kernel_trace",
    "parse_pc_samples",
    "parse_thread_trace",
    "permission_problem",
    "read_agents",
    "read_copies",
    "read_counters",
    "read_dispatches",
    "read_samples",
    "read_trace",
    "sample_pcs",
    "trace",
    "trace_threads",
]
