#include "graphs.h"

#include <map>
#include <set>
#include <utility>

namespace intelliperf {

namespace {

constexpr size_t kMostSteps = 512;  // each part of the graph begins as a copy of all of it

using Nodes = std::vector<CUgraphNode>;
using Edges = std::vector<std::pair<CUgraphNode, CUgraphNode>>;

bool nodes_of(CUgraph graph, Nodes& nodes) {
  size_t count = 0;
  if (cuGraphGetNodes(graph, nullptr, &count) != CUDA_SUCCESS) return false;
  nodes.resize(count);
  return count == 0 || cuGraphGetNodes(graph, nodes.data(), &count) == CUDA_SUCCESS;
}

CUresult get_edges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
#if CUDA_VERSION >= 13000
  return cuGraphGetEdges(graph, from, to, nullptr, count);
#else
  return cuGraphGetEdges(graph, from, to, count);
#endif
}

bool edges_of(CUgraph graph, Edges& edges) {
  size_t count = 0;
  if (get_edges(graph, nullptr, nullptr, &count) != CUDA_SUCCESS) return false;
  Nodes from(count), to(count);
  if (count && get_edges(graph, from.data(), to.data(), &count) != CUDA_SUCCESS) return false;
  for (size_t i = 0; i < count; ++i) edges.emplace_back(from[i], to[i]);
  return true;
}

// Each node after those that it depends on, otherwise as they were made. Empty where that cannot be told.
Nodes in_order(CUgraph graph) {
  Nodes nodes;
  Edges edges;
  if (!nodes_of(graph, nodes) || !edges_of(graph, edges)) return {};
  std::map<CUgraphNode, size_t> number;
  for (size_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;
  std::vector<size_t> waits_for(nodes.size());
  std::vector<std::vector<size_t>> followers(nodes.size());
  for (const auto& [from, to] : edges) {
    ++waits_for[number[to]];
    followers[number[from]].push_back(number[to]);
  }
  std::set<size_t> ready;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (waits_for[i] == 0) ready.insert(i);
  Nodes sorted;
  while (!ready.empty()) {
    const size_t next = *ready.begin();
    ready.erase(ready.begin());
    sorted.push_back(nodes[next]);
    for (const size_t follower : followers[next])
      if (--waits_for[follower] == 0) ready.insert(follower);
  }
  return sorted.size() == nodes.size() ? sorted : Nodes{};
}

CUgraph child_of(CUgraphNode node) {
  CUgraph child = nullptr;
  return cuGraphChildGraphNodeGetGraph(node, &child) == CUDA_SUCCESS ? child : nullptr;
}

// Adds what the node launches; false where it does more than kernels, copies and fills.
bool look_at(CUgraphNode node, std::vector<Launch>& launches, std::vector<CUfunction>& functions) {
  CUgraphNodeType type{};
  if (cuGraphNodeGetType(node, &type) != CUDA_SUCCESS) return false;
  if (type == CU_GRAPH_NODE_TYPE_GRAPH) {
    const CUgraph child = child_of(node);
    Nodes nodes = in_order(child);
    bool plain = child && !nodes.empty();
    if (child && nodes.empty()) nodes_of(child, nodes);
    for (const CUgraphNode inner : nodes) plain = look_at(inner, launches, functions) && plain;
    return plain;
  }
  CUDA_KERNEL_NODE_PARAMS p{};
  if (type == CU_GRAPH_NODE_TYPE_KERNEL && cuGraphKernelNodeGetParams(node, &p) == CUDA_SUCCESS) {
    Request request = request_of(p);
    read_arguments(request);
    launches.push_back(request.launch);
    functions.push_back(request.function);
    return true;
  }
  return type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET || type == CU_GRAPH_NODE_TYPE_EMPTY;
}

}  // namespace

std::vector<Launch> KeptGraph::launches() const {
  std::vector<Launch> all;
  for (const Step& step : steps) all.insert(all.end(), step.launches.begin(), step.launches.end());
  return all;
}

KeptGraph kept(CUgraph graph, std::vector<CUfunction>& functions) {
  KeptGraph made;
  Nodes nodes = in_order(graph);
  bool plain = !nodes.empty();
  if (nodes.empty()) nodes_of(graph, nodes);
  for (const CUgraphNode node : nodes) {
    made.steps.push_back({node, {}});
    plain = look_at(node, made.steps.back().launches, functions) && plain;
  }
  CUgraph copy = nullptr;
  if (!plain || nodes.size() > kMostSteps || cuGraphClone(&copy, graph) != CUDA_SUCCESS) return made;
  made.graph = copy;
  for (Step& step : made.steps) {
    if (cuGraphNodeFindInClone(&step.node, step.node, copy) == CUDA_SUCCESS) continue;
    forget(made);
    break;
  }
  return made;
}

void forget(KeptGraph& graph) {
  if (graph.graph) cuGraphDestroy(graph.graph);
  graph.graph = nullptr;
}

CUresult run_steps(const KeptGraph& graph, size_t first, size_t end, CUstream stream) {
  CUgraph part = nullptr;
  CUresult status = cuGraphClone(&part, graph.graph);
  if (status != CUDA_SUCCESS) return status;
  for (size_t i = 0; i < graph.steps.size() && status == CUDA_SUCCESS; ++i) {
    CUgraphNode node = nullptr;
    if (i >= first && i < end) continue;
    status = cuGraphNodeFindInClone(&node, graph.steps[i].node, part);
    if (status == CUDA_SUCCESS) status = cuGraphDestroyNode(node);
  }
  CUgraphExec executable = nullptr;
  if (status == CUDA_SUCCESS) status = cuGraphInstantiateWithFlags(&executable, part, 0);
  if (status == CUDA_SUCCESS) status = cuGraphLaunch(executable, stream);
  if (status == CUDA_SUCCESS) status = cuCtxSynchronize();
  if (executable) cuGraphExecDestroy(executable);
  cuGraphDestroy(part);
  return status;
}

}  // namespace intelliperf
