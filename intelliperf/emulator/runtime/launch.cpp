#include <algorithm>
#include <cfenv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>

#include "analysis.h"
#include "described.h"
#include "estimate.h"
#include "execution.h"
#include "fault_log.h"
#include "grid_run.h"
#include "progress.h"
#include "recorder.h"
#include "repeats.h"
#include "shadow.h"
#include "time_model.h"
#include "wave_counts.h"

namespace simt {
namespace {

constexpr uint64_t kProbeEvents = 65536;  // budget where nothing is recorded: for lock-step and time only
constexpr size_t kFullLaunches = 48;      // of one kernel that have the whole budget; later ones have that of a probe
constexpr size_t kMostShapes = 1024;      // of one kernel that are watched; shapes beyond take a similar one's time
constexpr size_t kMostLaunches = 4096;    // of one kernel, of all its shapes

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
  Touched touched;
};

struct History {  // of one kernel
  struct Count {
    Geometry geometry;
    uint32_t launches = 0, alike = 0;  // alike: watched ones in a row that did as much as the one before
    uint64_t executions = 0;           // of basic blocks, by lanes and by waves, in the last one
  };
  std::vector<Count> counts;
  std::vector<Modelled> modelled;  // the last one of each shape
  size_t watched = 0;              // launches
  bool lockstep = false, loaded = false;
};

History& history_of(Kernel& kernel) {
  if (!kernel.state) kernel.state = new History;
  return *static_cast<History*>(kernel.state);
}

// How the kernel's arithmetic rounds while it runs: the same in all lanes, and in what the runtime does for them.
class RoundingGuard {
 public:
  RoundingGuard() : before_(fegetround()) {
    if (settings().rounding != Rounding::kNearest)
      fesetround(settings().rounding == Rounding::kUp ? FE_UPWARD : FE_DOWNWARD);
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

ShapeSample& shape_sample() {
  static auto* instance = new ShapeSample;
  return *instance;
}

History::Count& count_of(History& history, const Geometry& geometry) {
  for (History::Count& count : history.counts)
    if (count.geometry == geometry) return count;
  history.counts.push_back({});
  history.counts.back().geometry = geometry;
  return history.counts.back();
}

// The first launches of a shape are watched, those that keep differing all, and of others fewer and fewer.
bool worth_watching(const History& history, const History::Count& count, bool early) {
  if (early) return true;
  if (count.launches == 0) return history.counts.size() <= kMostShapes;
  if (history.watched >= kMostLaunches) return false;
  return count.alike < 2 || (count.launches & (count.launches + 1)) == 0;
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

// Itself, or in a function that it may call.
bool draws_work(const Kernel& kernel) {
  const Module& module = *kernel.module;
  const auto& sites = module.metadata["sites"].items();
  const auto is_other_kernel = [&](const std::string& name) {
    return name != kernel.name && std::any_of(module.kernels.begin(), module.kernels.end(),
                                              [&](const auto& other) { return other->name == name; });
  };
  for (uint32_t i = 0; i < module.site_count; ++i)
    if ((module.sites[i].order & kSiteDraws) && (i >= sites.size() || !is_other_kernel(sites[i]["function"].text())))
      return true;
  return false;
}

RunPlan make_plan(const Kernel& kernel, History& history, const Geometry& geometry) {
  const Settings& wanted = settings();
  const bool recorded =
      Recorder::instance().active() && (wanted.trace_kernel.empty() || wanted.trace_kernel == kernel.name);
  RunPlan plan;
  plan.lockstep = wanted.lockstep_always || history.lockstep;
  History::Count& count = count_of(history, geometry);
  const uint32_t first_ones = recorded ? wanted.trace_launches : 1;
  const bool early = count.launches < first_ones && history.watched < std::max<size_t>(kFullLaunches, first_ones);
  plan.event_budget = recorded && early ? wanted.trace_events : std::min(kProbeEvents, wanted.trace_events);
  const bool wanted_now = (early || recorded || count.launches == 0) && worth_watching(history, count, early);
  // Analysed blocks would leave their numbers without a shadow.
  plan.analyze = !shadow_active() && kernel.trace && wanted_now;
  ++count.launches;
  history.watched += plan.analyze;
  plan.shares = plan.analyze && wanted.preemption.kind != Order::Kind::kRandom && draws_work(kernel);
  // What one block has drawn says nothing of the others.
  plan.count_rest = plan.analyze && (recorded || plan.shares);
  plan.draw = draw_of(kernel);
  return plan;
}

// The launch that tells most about an untraced one: same shape, else nearest in size.
const Modelled* similar(const History& history, const Geometry& geometry) {
  const Modelled* best = nullptr;
  double best_distance = 0;
  for (const Modelled& known : history.modelled) {
    const double ratio = geometry.threads() / known.geometry.threads();
    const double distance = known.geometry == geometry ? -1 : std::max(ratio, 1 / ratio);
    if (best && distance > best_distance) continue;
    best = &known;
    best_distance = distance;
  }
  return best;
}

// NVIDIA's compute units fetch the code of a kernel through the L2, where it is from the launch before, or from being
// loaded for the first one (lazily, by default since CUDA 12.2): kernels that a program launches once take 0.8 us on an
// H200 where they do next to nothing.
constexpr uint64_t kCodeBytes = 4096;  // assumption: of a kernel
TouchedSpan code_of(const Kernel& kernel) {
  const auto begin = reinterpret_cast<uintptr_t>(&kernel);
  return {begin, begin + kCodeBytes, kCodeBytes};
}

double launch_ns(const Kernel& kernel, bool first) {
  const L2Contents& before = L2Contents::instance();
  const bool warm = first ? before.keeps_anything() : before.holds(code_of(kernel).begin, 0);
  return warm ? device().warm_launch_ns : device().launch_overhead_ns;
}

Touched touched_by(const Kernel& kernel, const Modelled* alike) {
  Touched touched = alike ? alike->touched : Touched();
  touched.push_back(code_of(kernel));
  return touched;
}

TimeParts from_similar(const Modelled* best, const Geometry& geometry, LaunchTotals& totals) {
  TimeParts parts;
  parts.launch = device().launch_overhead_ns;
  if (!best) return parts;
  const double scale = geometry.threads() / best->geometry.threads();
  parts = best->parts;
  for (double* part : {&parts.dispatch, &parts.issue, &parts.lds, &parts.constant, &parts.l1, &parts.l2, &parts.dram,
                       &parts.atomic, &parts.latency})
    *part *= scale;
  totals = best->totals;
  for (double* total : {&totals.events, &totals.atomic_lanes, &totals.atomic_addresses, &totals.atomic_hottest_lanes,
                        &totals.dram_read_bytes, &totals.dram_write_bytes, &totals.dram_once_bytes})
    *total *= scale;
  for (auto& [site, lanes] : totals.hottest_by_site) lanes *= scale;
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
  const std::vector<SiteRecord>& sites;
  const std::vector<uint64_t>&executions, waves;  // of basic blocks, by lanes and by waves
  const Work& work;
  double local_ns;  // how much sooner it would end without accesses to private memory
  double spin_ns;   // or if no two lanes met in the loops that stand for LDS atomics
  double other_ns;  // of the host, when nothing was analysed
  bool repeated;    // not run: it was known what it does to memory
};

void write_totals(JsonWriter& line, const LaunchTotals& totals) {
  line.key("atomic_lanes").real(totals.atomic_lanes);
  line.key("atomic_addresses").real(totals.atomic_addresses);
  line.key("atomics_known").boolean(totals.atomics_known);
  line.key("atomic_hottest_lanes").real(totals.atomic_hottest_lanes);
  line.key("atomic_hottest_site");
  if (totals.atomic_hottest_site == kNoSite)
    line.null();
  else
    line.number(totals.atomic_hottest_site);
  line.key("atomic_hottest_by_site").begin_array();
  for (const auto& [site, lanes] : totals.hottest_by_site) line.begin_array().number(site).real(lanes).end_array();
  line.end_array();
  line.key("dram_read_bytes").real(totals.dram_read_bytes);
  line.key("dram_write_bytes").real(totals.dram_write_bytes);
  line.key("dram_once_bytes").real(totals.dram_once_bytes);
}

void write_parts(JsonWriter& line, const TimeParts& parts) {
  line.key("time_parts").begin_object();
  line.key("launch")
      .real(parts.launch)
      .key("dispatch")
      .real(parts.dispatch)
      .key("issue")
      .real(parts.issue)
      .key("lds")
      .real(parts.lds)
      .key("constant")
      .real(parts.constant);
  line.key("l1").real(parts.l1).key("l2").real(parts.l2).key("dram").real(parts.dram);
  line.key("atomic").real(parts.atomic).key("latency").real(parts.latency);
  line.end_object();
}

// What the time is made from, of the whole launch; queues of the analysed atomics.
void write_counts(JsonWriter& line, const LaunchTotals& t, const Work& work) {
  line.key("counts").begin_object();
  const auto put = [&](const char* name, double value) { line.key(name).real(value); };
  put("requests", t.requests), put("lds_requests", t.lds_requests), put("lds_phases", t.lds_phases);
  put("l1_tag_cycles", t.l1_tag_cycles), put("l1_bank_passes", t.l1_passes), put("l1_bytes", t.l1_bytes);
  put("l2_bytes", t.l2_bytes), put("partial_sectors", t.partial_sectors);
  put("l1_hit_requests", t.l1_hit_requests), put("l2_hit_requests", t.l2_hit_requests);
  put("dram_requests", t.dram_requests), put("on_their_way", t.on_their_way);
  put("atomic_requests", t.atomic_requests);
  put("constant_loads", t.constant_loads), put("constant_addresses", t.constant_addresses);
  put("loads", t.loads), put("load_runs", t.load_runs), put("waiting_loads", t.waiting_loads),
      put("barrier_waves", t.barrier_waves), put("collectives", t.collectives);
  const AtomicQueues::Queue all = analysis().queues().all(), longest = analysis().queues().longest(0.6, 0.74);
  put("atomic_sectors", double(all.sectors)), put("atomic_extra", double(all.extra));
  put("longest_sectors", double(longest.sectors)), put("longest_extra", double(longest.extra));
  put("local_loads", work.local_loads), put("local_stores", work.local_stores);
  put("local_load_bytes", work.local_load_bytes), put("local_store_bytes", work.local_store_bytes);
  for (int k = 0; k < 10; ++k) put(kOperationKinds[k], work.kinds[k]);
  line.end_object();
}

void write_occupancy(JsonWriter& line, const Occupancy& resident) {
  line.key("resident_blocks")
      .number(resident.blocks)
      .key("occupancy_waves")
      .number(resident.waves)
      .key("occupancy_limit")
      .string(resident.limit);
  line.key("waves_by_registers").number(resident.by_registers).key("waves_by_lds").number(resident.by_lds);
  line.key("waves_by_blocks").number(resident.by_blocks);
}

// Per launch; unknown without a compile for the real target or a traced block.
void write_local(JsonWriter& line, const Result& result) {
  if (!result.work.local_known || result.run.traced_blocks() == 0) {
    line.key("local_requests").null().key("local_ns").null();
    return;
  }
  line.key("local_requests").real(result.work.local_requests());
  line.key("local_ns").real(result.local_ns);
}

void write_spins(JsonWriter& line, const Result& result) {
  line.key("spin_ns");
  result.run.traced_blocks() == 0 ? line.null() : line.real(result.spin_ns);
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
  line.key("all_events").real(result.totals.events);
  line.key("empty_blocks").number(result.run.works().without_requests());
  line.key("lockstep").boolean(result.lockstep);
  line.key("time_ns").real(result.parts.total()).key("time_from").string(traced ? "traced" : "similar");
  write_parts(line, result.parts);
  if (traced) write_counts(line, result.totals, result.work);
  line.key("host_ns_fast").real(traced ? result.run.fast_ns() : result.other_ns);
  line.key("host_ns_trace").real(result.run.trace_ns());
  line.key("repeated").boolean(result.repeated);
  write_totals(line, result.totals);
  line.key("barriers").number(result.run.barriers());
  line.key("acquisitions").number(traced ? analysis().acquisitions() : 0);
  line.key("divergent_barriers").number(result.run.divergent_barriers());
  write_occupancy(line, result.resident);
  write_local(line, result);
  write_spins(line, result);
  line.key("status").number(uint64_t(result.status));
  line.end_object();
  return line.text();
}

void write_records(const LaunchRequest& request, uint32_t index, const Result& result) {
  Recorder& recorder = Recorder::instance();
  if (!recorder.active()) return;
  if (result.run.traced_blocks()) {
    std::vector<SiteRecord> sites;
    for (uint32_t i = 0; i < result.sites.size(); ++i) {
      if (result.sites[i].requests == 0) continue;
      sites.push_back(result.sites[i]);
      sites.back().launch = index;
      sites.back().site = i;
    }
    recorder.sites(sites);
    std::vector<BlockRecord> blocks;
    for (uint32_t i = 0; i < result.executions.size(); ++i)
      if (result.executions[i]) blocks.push_back(BlockRecord{index, i, result.executions[i], result.waves[i]});
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

// By place, see WaveCounter: of a basic block with events its first one stands for it.
std::vector<float> costs_by_place(const Module& module) {
  const std::vector<double> costs = issue_costs(module);
  const auto& blocks = module.metadata["blocks"].items();
  std::vector<float> by_place(module.site_count + module.block_count, 0);
  for (uint32_t i = 0; i < module.block_count; ++i) {
    const uint64_t site = i < blocks.size() ? blocks[i]["site"].unsigned_or(UINT64_MAX) : UINT64_MAX;
    by_place[site < module.site_count ? site : module.site_count + i] = float(costs[i]);
  }
  return by_place;
}

void begin_analysis(const LaunchRequest& request, const RunPlan& plan, const Occupancy& resident) {
  const Module& module = *request.kernel->module;
  const uint64_t each = (request.grid.count() - 1) / device().compute_units + 1;
  const uint32_t most = std::max(1u, resident.blocks);
  const uint64_t together = std::min(request.grid.count(), uint64_t{most} * device().compute_units);
  const Analysis::OnOneUnit blocks{most, uint32_t(std::min<uint64_t>(most, each)), together};
  analysis().begin_launch(*request.kernel, dynamic_shared_bytes(request), blocks, request.place);
  shape_sample().begin_launch(analysis(), module.site_count);
  wave_counter.begin_launch(module, costs_by_place(module), plan.draw, &shape_sample(), &analysis().hot(), plan.shares);
  std::fill(module.block_executions, module.block_executions + module.block_count, 0);
}

// What a launch that was analysed did as a whole, and the time that it takes.
struct Outline {
  std::vector<SiteRecord> sites;
  std::vector<uint64_t> executions, waves;
  LaunchTotals totals;
  TimeParts parts;
  Work work;
  double local_ns = 0, spin_ns = 0;
};

Outline outline(const LaunchRequest& request, const RunPlan& plan, const GridRun& run, const Occupancy& resident) {
  const Module& module = *request.kernel->module;
  Outline found;
  const double per_traced = double(request.grid.count()) / double(run.traced_blocks());
  const double scale = plan.count_rest ? 1 : per_traced;
  found.sites = whole_launch(module, analysis(), shape_sample(), scale);
  found.executions.assign(module.block_executions, module.block_executions + module.block_count);
  for (uint32_t i = 0; i < module.block_count; ++i)  // blocks count themselves, or are counted
    found.executions[i] += wave_counter.lanes(wave_counter.place_of_block(i));
  found.waves = wave_executions(module, found.executions.data());
  for (std::vector<uint64_t>* counts : {&found.executions, &found.waves})
    for (uint64_t& count : *counts) count = uint64_t(double(count) * scale + 0.5);
  found.totals = launch_totals(analysis(), found.sites, plan.count_rest, per_traced);
  found.totals.atomics_known = plan.count_rest && wave_counter.atomics_known();
  found.work = weigh_work(*request.kernel, found.waves);
  const double without_local_ns =
      model_time(request, analysis(), found.totals, run.works(), resident, found.work, false).total();
  add_local_traffic(found.totals, request, resident, found.work);
  found.parts = model_time(request, analysis(), found.totals, run.works(), resident, found.work, true);
  found.local_ns = found.parts.total() - without_local_ns;
  if (found.totals.spin_turns > found.totals.spin_requests) {
    LaunchTotals apart = found.totals;
    apart.spin_turns = apart.spin_requests;
    apart.lds_phases -= apart.spin_conflicts;
    found.spin_ns =
        found.parts.total() - model_time(request, analysis(), apart, run.works(), resident, found.work, true).total();
  }
  return found;
}

// Of all accesses, where some were analysed.
Touched whole(Touched touched, const LaunchTotals& totals) {
  double seen = 0;
  for (const TouchedSpan& span : touched) seen += double(span.bytes);
  const double factor = seen > 0 ? std::max(1.0, (totals.dram_once_bytes + totals.dram_write_bytes) / seen) : 1;
  for (TouchedSpan& span : touched) span.bytes = uint64_t(double(span.bytes) * factor);
  return touched;
}

void remember(History& history, const Geometry& geometry, const Outline& found) {
  const auto same = [&](const Modelled& known) { return known.geometry == geometry; };
  auto known = std::find_if(history.modelled.begin(), history.modelled.end(), same);
  if (known == history.modelled.end()) known = history.modelled.insert(known, Modelled{geometry, {}, {}, {}});
  known->parts = found.parts;
  known->totals = found.totals;
  known->touched = whole(analysis().touched(), found.totals);
  uint64_t executions = 0;
  for (size_t i = 0; i < found.waves.size(); ++i) executions += (found.executions[i] << 20) + found.waves[i];
  History::Count& count = count_of(history, geometry);
  count.alike = count.executions == executions ? count.alike + 1 : 0;
  count.executions = executions;
}

LaunchOutcome run_launch(const LaunchRequest& request, const Occupancy& resident) {
  Kernel& kernel = *request.kernel;
  const Module& module = *kernel.module;
  History& history = history_of(kernel);
  const Geometry geometry{request.grid, request.block, request.dynamic_lds};
  RunPlan plan = make_plan(kernel, history, geometry);
  if (request.watched && kernel.trace && !shadow_active()) {
    plan.analyze = plan.lockstep = true;
    plan.event_budget = UINT64_MAX / 2;
  }
  plan.max_resident = request.cooperative ? request.grid.count() : 4096;
  // Devices begin blocks in order: one that waits for a later one needs room for both.
  if (!request.cooperative && settings().blocks.kind == Order::Kind::kForward && resident.blocks)
    plan.max_resident = std::min<uint64_t>(plan.max_resident, uint64_t(resident.blocks) * device().compute_units);
  if (!request.cooperative && settings().resident) plan.max_resident = std::min(plan.max_resident, settings().resident);

  execution.request = &request;
  execution.index = trying() ? 0 : Recorder::instance().next_launch();
  execution.shared_begin = reinterpret_cast<uintptr_t>(module.shared_begin);
  execution.shared_bytes = uintptr_t(module.shared_end - module.shared_begin);
  abort_status = 0;
  execution.divided = false;
  set_grid(request);
  shadow_launch(request);
  if (plan.analyze) begin_analysis(request, plan, resident);

  Repeats& repeats = Repeats::instance();
  const bool repeated = !plan.analyze && !shadow_active() && repeats.replay(request);
  const double begun = host_now_ns();
  GridRun run(request, plan, plan.analyze ? &analysis() : nullptr);
  LaunchOutcome outcome;
  Progress::instance().begin(kernel, request.grid.count(), !trying());
  if (!repeated) {
    SignalGuard signals;
    Watchdog watchdog(kernel);
    RoundingGuard rounding;
    outcome.status = run.run();
  }
  Progress::instance().end();
  if (plan.analyze) wave_counter.end_launch();
  const double spent = host_now_ns() - begun;
  if (!plan.analyze && !repeated && !shadow_active()) repeats.ran(outcome.status == kLaunchOk, spent);
  history.lockstep |= run.needs_lockstep();

  Outline found;
  if (run.traced_blocks()) {
    found = outline(request, plan, run, resident);
    remember(history, geometry, found);
  } else {
    found.parts = from_similar(similar(history, geometry), geometry, found.totals);
  }
  found.parts.launch = launch_ns(kernel, !history.loaded);
  history.loaded |= !trying();
  if (!trying()) L2Contents::instance().touch(touched_by(kernel, similar(history, geometry)));
  outcome.time_ns = found.parts.total();
  advance_device_clocks(outcome.time_ns);
  outcome.index = execution.index;
  if (!trying())
    write_records(
        request, execution.index,
        Result{outcome.status, plan.lockstep || run.needs_lockstep(), run, found.parts, found.totals, resident,
               found.sites, found.executions, found.waves, found.work, found.local_ns, found.spin_ns, spent, repeated});
  outcome.out_of_bounds = request.watched && noted_bad_access();
  outcome.divided = execution.divided;
  outcome.raced = request.watched && noted_grave_race();
  if (!trying()) flush_faults(request, execution.index);
  if (outcome.status == kNotSupported)
    fprintf(stderr, "intelliperf: kernel %s needs more memory for its threads than there is\n", kernel.name.c_str());
  execution.request = nullptr;
  return outcome;
}

}  // namespace

uint32_t dynamic_shared_bytes(const LaunchRequest& request) {
  return request.dynamic_lds + (request.kernel->code ? request.kernel->static_lds : 0);
}

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
