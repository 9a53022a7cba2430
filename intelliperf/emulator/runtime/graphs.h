// Graphs built node by node. A node is kept as the operation that a stream under capture would have noted down; nodes
// run in the order in which they were added, which respects every dependency that existing nodes can have.
#pragma once
#include <cstddef>

#include "streams.h"

namespace simt {

enum class NodeType : int {
  kKernel = 0,
  kMemcpy = 1,
  kMemset = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kWait = 6,
  kRecord = 7,
  kAlloc = 10,
  kFree = 11
};

struct GraphNode {
  size_t index;  // of its operation
  NodeType type;
};

// A stream that notes operations down in `graph` while this lives.
class Notes {
 public:
  explicit Notes(Graph& graph);
  ~Notes();
  Notes(const Notes&) = delete;
  Notes& operator=(const Notes&) = delete;
  Stream* stream() const { return stream_; }

 private:
  Stream* stream_;
};

void keep_graph(Graph* graph);
bool known_graph(const Graph* graph);
bool known_executable(const Graph* graph);
Graph* graph_of(const GraphNode* node);  // null if of none

}  // namespace simt
