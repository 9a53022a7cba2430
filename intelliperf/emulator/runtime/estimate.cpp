#include "estimate.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "modules.h"
#include "wave_counts.h"

namespace simt {
namespace {

constexpr double kNormal95 = 1.96;  // samples are large, or hold everything
constexpr double kRounding = 1e-9;  // relative; variances below it are none

enum Field : uint32_t {
  kRequests,
  kLanes,
  kBytes,
  kGlobalRequests,
  kSharedRequests,
  kSectors,
  kSectorsIdeal,
  kLines64,
  kLines128,
  kLines128Ideal,
  kQuadLines64,
  kLineRuns128,
  kLdsPhases,
  kLdsPhasesIdeal,
  kSameAddress,
  kDistinctAddresses,
};
static_assert(kDistinctAddresses + 1 == kShapeFields, "the order of SiteRecord");
static_assert(offsetof(SiteRecord, distinct_addresses) - offsetof(SiteRecord, requests) == 8 * kDistinctAddresses, "");

uint64_t* fields(SiteRecord& record) { return &record.requests; }

// The most that a request of so many lanes can count. Ideals do not follow lanes evenly, so that a full one is meant.
double worst(Field field, double lanes, double bytes) {
  switch (field) {
    case kSectors:
      return lanes * std::ceil(bytes / 32);
    case kSectorsIdeal:
      return std::ceil(device().wave_size * bytes / 32);
    case kLines128Ideal:
      return std::ceil(device().wave_size * bytes / 128);
    case kLdsPhases:
      return lanes * std::ceil(bytes / 4);
    case kLdsPhasesIdeal:
      return 8;
    default:
      return lanes;
  }
}

// What of a site was not analysed, and what was drawn of it.
struct Rest {
  double requests, lanes;  // events
  double analyzed;         // events that were
  double bytes;            // of a lane
  const std::vector<Shape>& shapes;
};

struct Estimated {
  double value, error;
};

// Each lane counts the same.
bool in_step(Field field, const std::vector<Shape>& shapes) {
  const float each = shapes[0].field[field] / shapes[0].lanes;
  return each >= 1 &&
         std::all_of(shapes.begin(), shapes.end(), [&](const Shape& s) { return s.field[field] == each * s.lanes; });
}

Estimated estimate(Field field, const Rest& rest) {
  const auto n = double(rest.shapes.size());
  double sum = 0, lanes = 0;
  for (const Shape& shape : rest.shapes) sum += shape.field[field], lanes += shape.lanes;
  if (n >= rest.requests) return {sum * rest.requests / n, 0};
  // Whether an instruction makes one request of so many lanes is known beforehand, unless it is seen to differ.
  const bool given = field <= kSharedRequests;
  if ((field == kLanes || field == kBytes) && in_step(field, rest.shapes)) return {rest.lanes * sum / lanes, 0};
  const double mean = sum / n, mean_lanes = lanes / n;
  double squares = 0, lane_squares = 0, products = 0;
  for (const Shape& shape : rest.shapes) {
    const double off = shape.field[field] - mean, lanes_off = shape.lanes - mean_lanes;
    squares += off * off;
    lane_squares += lanes_off * lanes_off;
    products += off * lanes_off;
  }
  const double slope = lane_squares > 0 ? products / lane_squares : 0;
  const double left = squares - slope * products;
  const double variance = left > kRounding * (squares + mean * mean) && n > 2 ? left / (n - 2) : n > 2 ? 0 : squares;
  const double value = rest.requests * (mean + slope * (rest.lanes / rest.requests - mean_lanes));
  double unseen = 0;
  if (!given && sum > 0) {
    const double each = rest.lanes / rest.requests;
    unseen = std::max({worst(field, each, rest.bytes) - mean, mean - 1, 0.0}) / (n + rest.analyzed);
  }
  const double spread = (1 - n / rest.requests) * (variance / n + unseen * unseen);
  return {std::max(0.0, value), kNormal95 * rest.requests * std::sqrt(spread)};
}

// Counts that follow from others grow in proportion.
void scale_cache_counts(SiteRecord& record, double factor) {
  for (uint64_t* count : {&record.l1_hits, &record.l1_misses, &record.l2_hits, &record.l2_misses, &record.read_again})
    *count = uint64_t(double(*count) * factor + 0.5);
}

void scale_all(SiteRecord& record, double factor) {
  for (uint32_t i = 0; i < kShapeFields; ++i) fields(record)[i] = uint64_t(double(fields(record)[i]) * factor + 0.5);
  scale_cache_counts(record, factor);
}

void add_rest(SiteRecord& record, const Rest& rest) {
  const double sectors = double(record.sectors), requests = double(record.requests);
  for (uint32_t i = 0; i < kShapeFields; ++i) {
    uint64_t& count = fields(record)[i];
    if (rest.shapes.empty()) {
      const double more = rest.analyzed > 0 ? double(count) * rest.requests / rest.analyzed
                          : i == kRequests  ? rest.requests
                                            : 0;
      count += uint64_t(more + 0.5);
      record.error[i] = i == kRequests || i == kLanes ? 0 : more;
      continue;
    }
    const Estimated found = estimate(Field(i), rest);
    count += uint64_t(found.value + 0.5);
    record.error[i] = found.error;
  }
  const double factor = sectors > 0    ? double(record.sectors) / sectors
                        : requests > 0 ? double(record.requests) / requests
                                       : 1;
  scale_cache_counts(record, factor);
}

}  // namespace

std::vector<SiteRecord> whole_launch(const Module& module, const Analysis& analysis, const ShapeSample& sample,
                                     double scale) {
  std::vector<SiteRecord> records = analysis.records();
  for (uint32_t i = 0; i < records.size(); ++i) {
    SiteRecord& record = records[i];
    const auto kind = SiteKind(module.sites[i].kind);
    const Analyzed& analyzed = analysis.analyzed()[i];
    if (kind == SiteKind::kBarrier || kind == SiteKind::kCollective) {
      record.requests = wave_counter.requests(i);
      record.lanes = wave_counter.lanes(i);
    } else if (wave_counter.requests(i) > analyzed.events) {
      const double bytes = module.sites[i].bytes ? module.sites[i].bytes : 16;
      add_rest(record,
               {double(wave_counter.requests(i) - analyzed.events), double(wave_counter.lanes(i) - analyzed.lanes),
                double(analyzed.events), bytes, sample.shapes(i)});
    }
    if (scale != 1) scale_all(record, scale);
  }
  return records;
}

}  // namespace simt
