// Empties the L2 of what the application left in it, before every launch of one kernel.
#pragma once

namespace intelliperf {

// The kernel is named by INTELLIPERF_FLUSH_BEFORE; INTELLIPERF_FLUSH_NAME names ours, by which the activity records
// tell it from the application's. A launch that is being captured into a graph, or comes from one, is left alone.
void start_flush();

}  // namespace intelliperf
