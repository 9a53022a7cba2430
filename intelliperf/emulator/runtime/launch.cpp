#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "analysis.h"
#include "block_counts.h"
#include "execution.h"
#include "fault_log.h"
#include "grid_run.h"
#include "recorder.h"
#include "repeats.h"
#include "shadow.h"
#include "time_model.h"

namespace simt {
namespace {

constexpr uint64_t kProbeEvents = 65536;  // budget where nothing is recorded: for lock-step and time only
constexpr size_t kMaxShapes = 16;         // of one kernel that are traced; shapes beyond take a similar one's time

struct Geometry {
  Dim3 grid, block;
  uint32_t dynamic_lds;
  bool operator==(const Geometry& o) const {
    return grid.x == o.grid.x && grid.y == o.grid.y && grid.z == o.grid.z && block.x == o.block.x &&
           block.y == o.block.y && block.z == o.block.z && dynamic_lds == o.dynamic_lds;
  }
  double threads() const { return double(grid.count()) * double(block.count()); }
};

struct Modelled {  // a traced launch
  Geometry geometry;
  TimeParts parts;
  LaunchTotals totals;
};

struct History {  // of one kernel
  struct Count {
    Geometry geometry;
    uint32_t traced;
  };
  std::vector<Count> counts;
  std::vector<Modelled> modelled;
  bool lockstep = false;
};

History& history_of(Kernel& kernel) {
  if (!kernel.state) kernel.state = new History;
  return *static_cast<History*>(kernel.state);
}

// How the kernel's arithmetic rounds while it runs: the same in all lanes, and in what the runtime does for them.
class RoundingGuard {
 public:
  RoundingGuard() : before_(fegetround()) {
    if (settings().rounding != Rounding::kNearest) fesetround(settings().rounding == Rounding::kUp ? FE_UPWARD : FE_DOWNWARD);
  }
  ~RoundingGuard() { fesetround(before_); }
  RoundingGuard(const RoundingGuard&) = delete;
  RoundingGuard& operator=(const RoundingGuard&) = delete;

 private:
  int before_;
};

Analysis& analysis() {
  static auto* instance = new Analysis;
  return *instance;
}

uint32_t& traced_launches(History& history, const Geometry& geometry) {
  for (History::Count& count : history.counts)
    if (count.geometry == geometry) return count.traced;
  history.counts.push_back({geometry, 0});
  return history.counts.back().traced;
}

// The same wherever the same kernel is built.
uint64_t draw_of(const Kernel& kernel) {
  uint64_t mixed = 0xCBF29CE484222325ull;
  const auto add = [&](uint64_t value) { mixed = (mixed ^ value) * 0x100000001B3ull; };
  for (const char c : kernel.name) add(uint64_t(c));
  add(kernel.module->site_count);
  add(kernel.module->block_count);
  add(kernel.facts.instructions);
  return mixed;
}

RunPlan make_plan(const Kernel& kernel, History& history, const Geometry& geometry) {
  const Settings& wanted = settings();
  const bool recorded = Recorder::instance().active() &&
                        (wanted.trace_kernel.empty() || wanted.trace_kernel == kernel.name);
  RunPlan plan;
  plan.lockstep = wanted.lockstep_always || history.lockstep;
  plan.event_budget = recorded ? wanted.trace_events : kProbeEvents;
  uint32_t& traced = traced_launches(history, geometry);
  // Analysed blocks would leave their numbers without a shadow.
  plan.analyze = !shadow_active() && kernel.trace && history.modelled.size() < kMaxShapes * wanted.trace_launches + 1 && traced < (recorded ? wanted.trace_launches : 1);
  traced += plan.analyze;
  plan.count_rest = plan.analyze && recorded;
  plan.draw = draw_of(kernel);
  return plan;
}

// The launch that tells most about an untraced one: same shape, else nearest in size.
TimeParts from_similar(const History& history, const Geometry& geometry, LaunchTotals& totals) {
  const Modelled* best = nullptr;
  double best_distance = 0;
  for (const Modelled& known : history.modelled) {
    const double ratio = geometry.threads() / known.geometry.threads();
    const double distance = known.geometry == geometry ? -1 : std::max(ratio, 1 / ratio);
    if (best && distance > best_distance) continue;
    best = &known;
    best_distance = distance;
  }
  TimeParts parts;
  parts.launch = device().launch_overhead_ns;
  if (!best) return parts;
  const double scale = geometry.threads() / best->geometry.threads();
  parts = best->parts;
  for (double* part : {&parts.dispatch, &parts.issue, &parts.lds, &parts.l1, &parts.l2, &parts.dram, &parts.atomic, &parts.latency})
    *part *= scale;
  totals = best->totals;
  for (double* total : {&totals.events, &totals.atomic_lanes, &totals.atomic_addresses, &totals.atomic_hottest_lanes,
                        &totals.dram_read_bytes, &totals.dram_write_bytes, &totals.dram_once_bytes})
    *total *= scale;
  return parts;
}

void write_dim(JsonWriter& line, const char* key, const Dim3& dim) {
  line.key(key).begin_array().number(dim.x).number(dim.y).number(dim.z).end_array();
}

struct Result {
  int status;
  bool lockstep;
  const GridRun& run;
  const TimeParts& parts;
  const LaunchTotals& totals;
  const Occupancy& resident;
  const std::vector<uint64_t>& waves;  // of basic blocks
  const Work& work;
  double local_ns;  // how much sooner it would end without accesses to private memory
  double other_ns;  // of the host, when nothing was analysed
  bool repeated;    // not run: it was known what it does to memory
};

void write_totals(JsonWriter& line, const LaunchTotals& totals) {
  line.key("atomic_lanes").real(totals.atomic_lanes);
  line.key("atomic_addresses").real(totals.atomic_addresses);
  line.key("atomic_hottest_lanes").real(totals.atomic_hottest_lanes);
  line.key("atomic_hottest_site");
  if (totals.atomic_hottest_site == kNoSite)
    line.null();
  else
    line.number(totals.atomic_hottest_site);
  line.key("dram_read_bytes").real(totals.dram_read_bytes);
  line.key("dram_write_bytes").real(totals.dram_write_bytes);
  line.key("dram_once_bytes").real(totals.dram_once_bytes);
}

void write_parts(JsonWriter& line, const TimeParts& parts) {
  line.key("time_parts").begin_object();
  line.key("launch").real(parts.launch).key("dispatch").real(parts.dispatch).key("issue").real(parts.issue).key("lds").real(parts.lds);
  line.key("l1").real(parts.l1).key("l2").real(parts.l2).key("dram").real(parts.dram);
  line.key("atomic").real(parts.atomic).key("latency").real(parts.latency);
  line.end_object();
}

// What the time is made from, of the traced blocks.
void write_counts(JsonWriter& line, const TracedTotals& t, const Work& work) {
  line.key("counts").begin_object();
  const auto put = [&](const char* name, double value) { line.key(name).real(value); };
  put("requests", double(t.requests)), put("lds_requests", double(t.lds_requests)), put("lds_phases", double(t.lds_phases));
  put("l1_requests", double(t.l1_requests)), put("l1_tag_cycles", double(t.l1_tag_cycles));
  put("l1_bank_passes", double(t.l1_bank_passes)), put("l1_bytes", double(t.l1_bytes)), put("l2_bytes", double(t.l2_bytes)), put("partial_sectors", double(t.partial_sectors));
  put("l1_hit_requests", double(t.l1_hit_requests)), put("l2_hit_requests", double(t.l2_hit_requests));
  put("dram_requests", double(t.dram_requests)), put("atomic_requests", double(t.atomic_requests));
  put("waiting_loads", double(t.waiting_loads)), put("longest_wave_requests", double(t.longest_wave_requests)), put("longest_wave_words", double(t.longest_wave_words));
  put("barriers", double(t.barriers)), put("barrier_waves", double(t.barrier_waves));
  put("collectives", double(t.collectives)), put("atomic_serial_lds", double(t.atomic_serial_lds));
  const AtomicQueues::Queue all = analysis().queues().all(), longest = analysis().queues().longest(0.6, 0.74);
  put("atomic_sectors", double(all.sectors)), put("atomic_extra", double(all.extra));
  put("longest_sectors", double(longest.sectors)), put("longest_extra", double(longest.extra));
  put("local_loads", work.local_loads), put("local_stores", work.local_stores);
  put("local_load_bytes", work.local_load_bytes), put("local_store_bytes", work.local_store_bytes);
  for (int k = 0; k < 10; ++k) put(kOperationKinds[k], work.kinds[k]);
  line.end_object();
}

void write_occupancy(JsonWriter& line, const Occupancy& resident) {
  line.key("resident_blocks").number(resident.blocks).key("occupancy_waves").number(resident.waves).key("occupancy_limit").string(resident.limit);
  line.key("waves_by_registers").number(resident.by_registers).key("waves_by_lds").number(resident.by_lds);
  line.key("waves_by_blocks").number(resident.by_blocks);
}

// Per launch; unknown without a compile for the real target or a traced block.
void write_local(JsonWriter& line, const Result& result, uint64_t blocks) {
  if (!result.work.local_known || result.run.traced_blocks() == 0) {
    line.key("local_requests").null().key("local_ns").null();
    return;
  }
  line.key("local_requests").real(result.work.local_requests() * double(blocks) / double(result.run.traced_blocks()));
  line.key("local_ns").real(result.local_ns);
}

std::string launch_json(const LaunchRequest& request, uint32_t index, const Result& result) {
  const bool traced = result.run.traced_blocks() > 0;
  JsonWriter line;
  line.begin_object();
  line.key("index").number(index).key("operation").string("kernel").key("kernel").string(request.kernel->name);
  line.key("module").number(request.kernel->module->id);
  write_dim(line, "grid", request.grid);
  write_dim(line, "block", request.block);
  line.key("dynamic_lds").number(request.dynamic_lds).key("stream").number(request.stream);
  line.key("cooperative").boolean(request.cooperative);
  line.key("blocks").number(request.grid.count()).key("traced_blocks").number(result.run.traced_blocks());
  line.key("events").number(traced ? analysis().totals().events : 0);
  line.key("lockstep").boolean(result.lockstep);
  line.key("time_ns").real(result.parts.total()).key("time_from").string(traced ? "traced" : "similar");
  write_parts(line, result.parts);
  if (traced) write_counts(line, analysis().totals(), result.work);
  line.key("host_ns_fast").real(traced ? result.run.fast_ns() : result.other_ns);
  line.key("host_ns_trace").real(result.run.trace_ns());
  line.key("repeated").boolean(result.repeated);
  write_totals(line, result.totals);
  line.key("barriers").number(result.run.barriers());
  line.key("acquisitions").number(traced ? analysis().acquisitions() : 0);
  line.key("divergent_barriers").number(result.run.divergent_barriers());
  write_occupancy(line, result.resident);
  write_local(line, result, request.grid.count());
  line.key("status").number(uint64_t(result.status));
  line.end_object();
  return line.text();
}

void write_records(const LaunchRequest& request, uint32_t index, const Result& result) {
  Recorder& recorder = Recorder::instance();
  if (!recorder.active()) return;
  if (result.run.traced_blocks()) {
    std::vector<SiteRecord> sites;
    const auto& all = analysis().records();
    for (uint32_t i = 0; i < all.size(); ++i) {
      if (all[i].requests == 0) continue;
      sites.push_back(all[i]);
      sites.back().launch = index;
      sites.back().site = i;
    }
    recorder.sites(sites);
    std::vector<BlockRecord> blocks;
    const auto& executions = result.run.executions();
    for (uint32_t i = 0; i < executions.size(); ++i)
      if (executions[i]) blocks.push_back(BlockRecord{index, i, executions[i], result.waves[i]});
    recorder.blocks(blocks);
  }
  recorder.launch_line(launch_json(request, index, result));
}

int refuse(const LaunchRequest& request, const Occupancy& resident) {
  const Device& d = device();
  const uint64_t threads = request.block.count(), blocks = request.grid.count();
  if (threads == 0 || blocks == 0 || threads > d.max_threads_per_block || threads > 1024) return kInvalidConfiguration;
  if (request.dynamic_lds > kDynamicSharedCapacity ||
      request.kernel->static_lds + request.dynamic_lds > std::max(d.lds_bytes_per_block, d.lds_bytes_per_block_optin))
    return kInvalidConfiguration;
  if (!request.kernel->fast && !request.kernel->trace) return kInvalidConfiguration;
  if (request.cooperative && blocks > uint64_t(resident.blocks) * d.compute_units) return kCooperativeTooLarge;
  return kLaunchOk;
}

void set_grid(const LaunchRequest& request) {
  Grid& grid = __simt_grid;
  grid.wave_size = device().wave_size;
  grid.block_dim[0] = request.block.x, grid.block_dim[1] = request.block.y, grid.block_dim[2] = request.block.z;
  grid.grid_dim[0] = request.grid.x, grid.grid_dim[1] = request.grid.y, grid.grid_dim[2] = request.grid.z;
}

// A sample of blocks stands for all in proportion to what all do.
Extrapolation extrapolation(const Kernel& kernel, const GridRun& run, uint64_t blocks) {
  Extrapolation rest;
  rest.accesses = rest.instructions = double(blocks) / double(run.traced_blocks());
  if (run.all_executions().empty() || run.traced_blocks() == blocks) return rest;
  if (run.analyzed_accesses()) rest.accesses = double(run.all_accesses()) / double(run.analyzed_accesses());
  const double seen = weigh_work(kernel, run.executions()).instructions;
  if (seen > 0) rest.instructions = weigh_work(kernel, run.all_executions()).instructions / seen;
  return rest;
}

LaunchOutcome run_launch(const LaunchRequest& request, const Occupancy& resident) {
  Kernel& kernel = *request.kernel;
  const Module& module = *kernel.module;
  History& history = history_of(kernel);
  const Geometry geometry{request.grid, request.block, request.dynamic_lds};
  RunPlan plan = make_plan(kernel, history, geometry);
  plan.max_resident = request.cooperative ? request.grid.count() : 4096;
  // Devices begin blocks in order: one that waits for a later one needs room for both.
  if (!request.cooperative && settings().blocks.kind == Order::Kind::kForward && resident.blocks)
    plan.max_resident = std::min<uint64_t>(plan.max_resident, uint64_t(resident.blocks) * device().compute_units);

  execution.request = &request;
  execution.index = Recorder::instance().next_launch();
  execution.shared_begin = reinterpret_cast<uintptr_t>(module.shared_begin);
  execution.shared_bytes = uintptr_t(module.shared_end - module.shared_begin);
  abort_status = 0;
  set_grid(request);
  shadow_launch(request);
  if (plan.analyze) {
    analysis().begin_launch(kernel, uint32_t(request.block.count()), request.dynamic_lds, resident.blocks);
    std::fill(module.block_executions, module.block_executions + module.block_count, 0);
  }

  Repeats& repeats = Repeats::instance();
  const bool repeated = !plan.analyze && !shadow_active() && repeats.replay(request);
  const double begun = host_now_ns();
  GridRun run(request, plan, plan.analyze ? &analysis() : nullptr);
  LaunchOutcome outcome;
  if (!repeated) {
    SignalGuard signals;
    Watchdog watchdog(kernel);
    RoundingGuard rounding;
    outcome.status = run.run();
  }
  const double spent = host_now_ns() - begun;
  if (!plan.analyze && !repeated && !shadow_active()) repeats.ran(outcome.status == kLaunchOk, spent);
  history.lockstep |= run.needs_lockstep();

  TimeParts parts;
  LaunchTotals totals;
  Extrapolation rest;
  std::vector<uint64_t> waves;
  Work work;
  double local_ns = 0;
  if (run.traced_blocks()) {
    rest = extrapolation(kernel, run, request.grid.count());
    totals = scale_totals(analysis(), rest);
    waves = wave_executions(module, run.executions(), run.counted_waves(), analysis().records());
    work = weigh_work(kernel, waves);
    const double without_local_ns = model_time(request, analysis(), totals, rest, resident, work, false).total();
    add_local_traffic(totals, request, rest, resident, work);
    parts = model_time(request, analysis(), totals, rest, resident, work, true);
    local_ns = parts.total() - without_local_ns;
    history.modelled.push_back({geometry, parts, totals});
  } else {
    parts = from_similar(history, geometry, totals);
  }
  outcome.time_ns = parts.total();
  advance_device_clocks(outcome.time_ns);
  outcome.index = execution.index;
  write_records(request, execution.index,
                Result{outcome.status, plan.lockstep || run.needs_lockstep(), run, parts, totals, resident, waves, work,
                       local_ns, spent, repeated});
  flush_faults(request, execution.index);
  if (outcome.status == kNotSupported)
    fprintf(stderr, "intelliperf: kernel %s needs more memory for its threads than there is\n", kernel.name.c_str());
  execution.request = nullptr;
  return outcome;
}

}  // namespace

LaunchOutcome launch(const LaunchRequest& request) {
  const auto threads = uint32_t(std::min<uint64_t>(request.block.count(), 65536));
  const Occupancy resident = occupancy(*request.kernel, threads, request.dynamic_lds);
  LaunchOutcome outcome;
  outcome.status = execution.request ? kNotSupported : refuse(request, resident);
  if (outcome.status != kLaunchOk) return outcome;
  return run_launch(request, resident);
}

uint32_t resident_blocks(const Kernel& kernel, uint32_t threads, uint32_t dynamic_lds) {
  return occupancy(kernel, threads, dynamic_lds).blocks;
}

}  // namespace simt
