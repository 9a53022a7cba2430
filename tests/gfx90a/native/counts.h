// What a dispatch did, as one line of JSON, and how long it took by the device's model.
#pragma once
#include <cstdint>
#include <string>

#include "dispatch.h"
#include "loaded.h"

namespace gfx90a {

struct Ended {
  Dispatch dispatch;
  Totals totals;
  LoadedKernel kernel;
  uint64_t queue_number = 0, start_ns = 0, end_ns = 0;
};

// A bound model, in the spirit of a roofline: launch, and whatever is busiest of issue, LDS, lines and atomics. It has
// no caches and no latencies: good for "more" and "less", not for a time of any real card.
uint64_t modelled_ns(const Code& code, const Dispatch& dispatch, const Totals& totals);

std::string as_json_line(const Code& code, const Ended& ended);

// Appends to DIR/<pid>.jsonl in one write.
void append_counts(const std::string& directory, const std::string& line);

}  // namespace gfx90a
