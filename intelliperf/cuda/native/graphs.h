// A graph that was made executable, kept so that its nodes can also run one after the other.
#pragma once
#include <cuda.h>

#include <cstdint>
#include <vector>

#include "launches.h"

namespace intelliperf {

struct Step {
  CUgraphNode node = nullptr;  // of the kept graph
  std::vector<Launch> launches;
};

struct KeptGraph {
  CUgraph graph = nullptr;  // our copy; null where the nodes cannot run by themselves
  std::vector<Step> steps;  // each after all that it depends on
  uint64_t launched = 0;

  std::vector<Launch> launches() const;
};

// What `graph` launches; with a copy of it where it consists of kernels, copies and fills alone.
KeptGraph kept(CUgraph graph, std::vector<CUfunction>& functions);
void forget(KeptGraph& graph);
// Runs these steps, and no others, and waits for them.
CUresult run_steps(const KeptGraph& graph, size_t first, size_t end, CUstream stream);

}  // namespace intelliperf
