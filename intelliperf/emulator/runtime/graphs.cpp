#include "graphs.h"

#include <utility>

#include "host_api.h"

namespace simt::host {

namespace {

using Operation = std::function<int(Stream*)>;

// What `issue(stream)` would do to a stream, as one operation.
template <class Issue>
int noted(Issue issue, Operation& operation) {
  auto steps = std::make_shared<Graph>();
  {
    const Notes notes(*steps);
    const int error = issue(notes.stream());
    if (error != kSuccess) return error;
  }
  operation = [steps](Stream* stream) {
    for (const Operation& step : steps->operations) {
      const int error = step(stream);
      if (error != kSuccess) return error;
    }
    return static_cast<int>(kSuccess);
  };
  return kSuccess;
}

bool belong(const Graph& graph, GraphNode* const* nodes, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    bool found = false;
    for (const auto& node : graph.nodes) found = found || node.get() == nodes[i];
    if (!found) return false;
  }
  return true;
}

template <class Issue>
int add(GraphNode** made, Graph* graph, GraphNode* const* after, size_t count, NodeType type, Issue issue) {
  if (!made || !known_graph(graph) || (count != 0 && !after) || !belong(*graph, after, count)) return kInvalidValue;
  Operation operation;
  const int error = noted(issue, operation);
  if (error != kSuccess) return error;
  graph->nodes.push_back(std::make_shared<GraphNode>(GraphNode{graph->operations.size(), type}));
  graph->operations.push_back(std::move(operation));
  *made = graph->nodes.back().get();
  return kSuccess;
}

template <class Issue>
int replace(Graph* graph, GraphNode* node, NodeType type, Issue issue) {
  if (!belong(*graph, &node, 1) || node->type != type) return kInvalidValue;
  return noted(issue, graph->operations[node->index]);
}

auto launching(const KernelNodeParams* p) {
  return [p](Stream* stream) -> int {
    if (!p) return kInvalidValue;
    if (!p->arguments && p->extra) return not_supported("kernel nodes with packed arguments");
    return launch_kernel(find_kernel(p->function), p->grid, p->block, p->arguments, p->shared_bytes, stream, false);
  };
}

auto filling(const MemsetParams* p) {
  return [p](Stream* stream) -> int {
    if (!p || p->height == 0) return kInvalidValue;
    for (size_t row = 0; row < p->height; ++row) {
      void* to = static_cast<char*>(p->to) + row * p->pitch;
      int error = kInvalidValue;
      if (p->element_bytes == 1) error = MemsetD8Async(to, static_cast<unsigned char>(p->value), p->width, stream);
      if (p->element_bytes == 2) error = MemsetD16Async(to, static_cast<unsigned short>(p->value), p->width, stream);
      if (p->element_bytes == 4) error = MemsetD32Async(to, static_cast<int>(p->value), p->width, stream);
      if (error != kSuccess) return error;
    }
    return kSuccess;
  };
}

auto calling(const HostNodeParams* p) {
  return [p](Stream* stream) -> int {
    return p ? LaunchHostFunc(stream, p->function, p->data) : static_cast<int>(kInvalidValue);
  };
}

auto copying(const Copy3D* copy) {
  return [copy](Stream* stream) -> int { return Memcpy3DAsync(copy, stream); };
}
auto copying(void* to, const void* from, size_t bytes, int kind) {
  return [=](Stream* stream) -> int { return MemcpyAsync(to, from, bytes, kind, stream); };
}

// The node of the graph itself, or of what an executable was made from.
template <class Issue>
int replace_own(GraphNode* node, NodeType type, Issue issue) {
  Graph* graph = graph_of(node);
  return graph ? replace(graph, node, type, issue) : static_cast<int>(kInvalidValue);
}
template <class Issue>
int replace_in(Graph* executable, GraphNode* node, NodeType type, Issue issue) {
  return known_executable(executable) ? replace(executable, node, type, issue) : static_cast<int>(kInvalidValue);
}

auto nothing() {
  return [](Stream*) -> int { return kSuccess; };
}

}  // namespace

int GraphCreate(Graph** graph, unsigned int flags) {
  if (!graph || flags != 0) return kInvalidValue;
  keep_graph(*graph = new Graph);
  return kSuccess;
}
int GraphClone(Graph** clone, Graph* graph) {
  if (!clone || !known_graph(graph)) return kInvalidValue;
  keep_graph(*clone = new Graph(*graph));
  return kSuccess;
}
int GraphAddKernelNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                       const KernelNodeParams* params) {
  return add(node, graph, after, count, NodeType::kKernel, launching(params));
}
int GraphAddMemcpyNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count, const Copy3D* copy) {
  return add(node, graph, after, count, NodeType::kMemcpy, copying(copy));
}
int GraphAddMemcpyNode1D(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count, void* to,
                         const void* from, size_t bytes, int kind) {
  return add(node, graph, after, count, NodeType::kMemcpy, copying(to, from, bytes, kind));
}
int GraphAddMemsetNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                       const MemsetParams* params) {
  return add(node, graph, after, count, NodeType::kMemset, filling(params));
}
int GraphAddHostNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                     const HostNodeParams* params) {
  return add(node, graph, after, count, NodeType::kHost, calling(params));
}
int GraphAddEmptyNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count) {
  return add(node, graph, after, count, NodeType::kEmpty, nothing());
}
int GraphAddEventRecordNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count, Event* event) {
  return add(node, graph, after, count, NodeType::kRecord,
             [event](Stream* stream) { return EventRecord(event, stream); });
}
int GraphAddChildGraphNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count, Graph* child) {
  if (!known_graph(child)) return kInvalidValue;
  return add(node, graph, after, count, NodeType::kGraph, [child](Stream* stream) {
    for (const Operation& step : child->operations) stream->capture->operations.push_back(step);
    return static_cast<int>(kSuccess);
  });
}
// The memory is there from when the node is made, since later nodes name its address, and stays: a graph may run again.
int GraphAddMemAllocNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count,
                         MemAllocNodeParams* params) {
  if (!params) return kInvalidValue;
  const int error = Malloc(&params->pointer, params->bytes);
  if (error == kSuccess) keep_for_graphs(params->pointer);
  return error == kSuccess ? add(node, graph, after, count, NodeType::kAlloc, nothing()) : error;
}
int GraphAddMemFreeNode(GraphNode** node, Graph* graph, GraphNode* const* after, size_t count, void* pointer) {
  return find(pointer) ? add(node, graph, after, count, NodeType::kFree, nothing()) : static_cast<int>(kInvalidValue);
}
int GraphAddDependencies(Graph* graph, GraphNode* const* from, GraphNode* const* to, size_t count) {
  if (!known_graph(graph) || !belong(*graph, from, count) || !belong(*graph, to, count)) return kInvalidValue;
  for (size_t i = 0; i < count; ++i)
    if (from[i]->index >= to[i]->index) return not_supported("a graph node that waits for one added after it");
  return kSuccess;
}
int GraphGetNodes(Graph* graph, GraphNode** nodes, size_t* count) {
  if (!known_graph(graph) || !count) return kInvalidValue;
  if (nodes && graph->nodes.empty() && !graph->operations.empty())
    return not_supported("the nodes of a captured graph");
  const size_t total = graph->nodes.empty() ? graph->operations.size() - graph->event_records : graph->nodes.size();
  for (size_t i = 0; nodes && i < *count && i < total; ++i) nodes[i] = graph->nodes[i].get();
  *count = total;
  return kSuccess;
}
int GraphNodeGetType(GraphNode* node, int* type) {
  if (!node || !type) return kInvalidValue;
  *type = static_cast<int>(node->type);
  return kSuccess;
}
int GraphKernelNodeSetParams(GraphNode* node, const KernelNodeParams* params) {
  return replace_own(node, NodeType::kKernel, launching(params));
}
int GraphMemcpyNodeSetParams(GraphNode* node, const Copy3D* copy) {
  return replace_own(node, NodeType::kMemcpy, copying(copy));
}
int GraphMemcpyNodeSetParams1D(GraphNode* node, void* to, const void* from, size_t bytes, int kind) {
  return replace_own(node, NodeType::kMemcpy, copying(to, from, bytes, kind));
}
int GraphMemsetNodeSetParams(GraphNode* node, const MemsetParams* params) {
  return replace_own(node, NodeType::kMemset, filling(params));
}
int GraphHostNodeSetParams(GraphNode* node, const HostNodeParams* params) {
  return replace_own(node, NodeType::kHost, calling(params));
}
int GraphExecKernelNodeSetParams(Graph* executable, GraphNode* node, const KernelNodeParams* params) {
  return replace_in(executable, node, NodeType::kKernel, launching(params));
}
int GraphExecMemcpyNodeSetParams(Graph* executable, GraphNode* node, const Copy3D* copy) {
  return replace_in(executable, node, NodeType::kMemcpy, copying(copy));
}
int GraphExecMemcpyNodeSetParams1D(Graph* executable, GraphNode* node, void* to, const void* from, size_t bytes,
                                   int kind) {
  return replace_in(executable, node, NodeType::kMemcpy, copying(to, from, bytes, kind));
}
int GraphExecMemsetNodeSetParams(Graph* executable, GraphNode* node, const MemsetParams* params) {
  return replace_in(executable, node, NodeType::kMemset, filling(params));
}
int GraphExecHostNodeSetParams(Graph* executable, GraphNode* node, const HostNodeParams* params) {
  return replace_in(executable, node, NodeType::kHost, calling(params));
}
int GraphExecUpdate(Graph* executable, Graph* graph, GraphUpdate* update) {
  if (!known_executable(executable) || !known_graph(graph)) return kInvalidValue;
  *executable = *graph;
  if (update) *update = {0, nullptr, nullptr};
  return kSuccess;
}
int GraphExecUpdate(Graph* executable, Graph* graph, GraphNode** error_node, int* outcome) {
  if (error_node) *error_node = nullptr;
  if (outcome) *outcome = 0;
  return GraphExecUpdate(executable, graph, nullptr);
}

}  // namespace simt::host
