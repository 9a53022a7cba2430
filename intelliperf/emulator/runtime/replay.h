// A replay: the program is started with its memory as an earlier process had it, launches what that process launched,
// and never comes to its own main. INTELLIPERF_REPLAY names the plan (intelliperf/recordings/image.py writes it).
//
// Kernels register before main, as clang has the objects do. In an interpreter, what a just-in-time compiler made is
// kept by an earlier run, loaded again, and handed to `__simt_replay`. Other device code that a program loads later
// cannot be replayed: its first launch ends the process.
#pragma once

namespace simt {

constexpr int kExitNotReplayable = 124;

void refuse_launch_beside_replay();

}  // namespace simt
