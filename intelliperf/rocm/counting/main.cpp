// Counts what recorded accesses cost:  count-records PLAN BANKS RECORDS  prints one line of JSON per dispatch.
//
// PLAN has a line per machine instruction: identity, site, memory (g, l, p, f), kind (l, s, a), then displacement and
// bytes of each part. The order of lines is the order of figures.
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "figures.h"
#include "recordfile.h"
#include "records.h"

namespace {

using namespace intelliperf;

struct Planned {
  Access access;
  Memory memory;
};

Memory memory_of(char letter) {
  return letter == 'g'   ? Memory::kGlobal
         : letter == 'l' ? Memory::kLds
         : letter == 'p' ? Memory::kPrivate
                         : Memory::kFlat;
}

std::vector<Planned> read_plan(const char* path) {
  std::vector<Planned> plan;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    Planned one{};
    char memory = 0, kind = 0;
    if (!(words >> one.access.identity >> one.access.site >> memory >> kind)) continue;
    one.memory = memory_of(memory);
    one.access.kind = Kind(kind);
    for (Part part{}; words >> part.displacement >> part.bytes;) one.access.parts.push_back(part);
    plan.push_back(one);
  }
  return plan;
}

class Content {
 public:
  explicit Content(const char* path) {
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }
  bool at_end() const { return at_ == bytes_.size(); }
  bool holds(uint64_t words) const { return words <= (bytes_.size() - at_) / 8; }
  bool take(void* into, size_t bytes) {
    const size_t whole = (bytes + 7) / 8 * 8;
    if (bytes_.size() - at_ < whole) return false;
    std::memcpy(into, bytes_.data() + at_, bytes);
    at_ += whole;
    return true;
  }

 private:
  std::vector<char> bytes_;
  size_t at_ = 0;
};

struct Dispatch {
  DispatchHead head;
  std::string kernel;
  uint64_t unknown = 0;  // records without an instruction
  std::vector<Figures> figures;
};

class Reader {
 public:
  Reader(const std::vector<Planned>& plan, Content& content, uint32_t banks)
      : plan_(plan), content_(content), banks_(banks) {
    for (size_t n = 0; n < plan.size(); ++n) by_site_[{plan[n].access.identity, plan[n].access.site}].push_back(n);
  }

  // Empty where it was read; else what is wrong.
  std::string read(Dispatch& dispatch) {
    DispatchHead& head = dispatch.head;
    if (!content_.take(&head, sizeof head) || std::memcmp(head.mark, kRecordMark, sizeof head.mark) != 0)
      return "no records of this version";
    dispatch.kernel.resize(head.name_bytes);
    if (!content_.take(dispatch.kernel.data(), head.name_bytes)) return "a name is cut off";
    dispatch.figures.resize(plan_.size());
    Counter counter(head.wave_size, banks_);
    for (uint64_t group = 0; group < head.recorded_groups; ++group) {
      for (uint32_t wave = 0; wave < head.waves_per_group; ++wave) {
        const std::string wrong = read_wave(dispatch, counter);
        if (!wrong.empty()) return wrong;
      }
      for (Figures& figures : dispatch.figures) figures.end_group();
    }
    return "";
  }

 private:
  std::string read_wave(Dispatch& dispatch, Counter& counter) {
    WaveHead wave{};
    if (!content_.take(&wave, sizeof wave)) return "a wave is cut off";
    if (!content_.holds(wave.words)) return "a wave's records are cut off";
    words_.resize(wave.words);
    content_.take(words_.data(), wave.words * 8);
    for (uint64_t at = 0; at < wave.words;) {
      const auto site = uint32_t(words_[at]), lanes = uint32_t(words_[at] >> 32);
      const bool whole = wave.words - at >= kRecordWords && wave.words - at - kRecordWords >= lanes;
      if (!whole || lanes > kMostLanes || uint32_t(__builtin_popcountll(words_[at + 1])) != lanes)
        return "a record is damaged";
      Lanes found;
      uint64_t mask = words_[at + 1];
      for (uint32_t n = 0; n < lanes; ++n, mask &= mask - 1)
        found.add(words_[at + kRecordWords + n], uint8_t(__builtin_ctzll(mask)));
      const auto planned = by_site_.find({dispatch.head.identity, site});
      if (planned == by_site_.end())
        ++dispatch.unknown;
      else
        for (const size_t n : planned->second)
          counter.count(plan_[n].access, plan_[n].memory, found, dispatch.figures[n]);
      at += kRecordWords + lanes;
    }
    return "";
  }

  const std::vector<Planned>& plan_;
  Content& content_;
  uint32_t banks_;
  std::map<std::pair<uint64_t, uint32_t>, std::vector<size_t>> by_site_;
  std::vector<uint64_t> words_;
};

void print_figures(const Figures& f) {
  const auto hot = f.hot.summary();
  const std::pair<const char*, double> fields[] = {
      {"executions", double(f.executions)},
      {"lanes", double(f.lanes)},
      {"bytes", double(f.bytes)},
      {"global_requests", double(f.global_requests)},
      {"global_lanes", double(f.global_lanes)},
      {"global_bytes", double(f.global_bytes)},
      {"lds_requests", double(f.lds_requests)},
      {"private_requests", double(f.private_requests)},
      {"sectors", double(f.sectors)},
      {"sectors_ideal", double(f.sectors_ideal)},
      {"lines64", double(f.lines64)},
      {"lines128", double(f.lines128)},
      {"lines128_ideal", double(f.lines128_ideal)},
      {"lds_phases", double(f.lds_phases)},
      {"lds_phases_ideal", double(f.lds_phases_ideal)},
      {"same_address", double(f.same_address)},
      {"distinct_addresses", double(hot.distinct)},
      {"hottest_lanes", double(hot.hottest_lanes)},
      {"requests_sq", f.squares.requests},
      {"sectors_sq", f.squares.sectors},
      {"phases_sq", f.squares.lds_phases},
  };
  const char* comma = "{";
  for (const auto& [name, value] : fields) {
    std::printf("%s\"%s\":%.17g", comma, name, value);
    comma = ",";
  }
  std::printf("}");
}

void print(const Dispatch& dispatch) {
  const DispatchHead& h = dispatch.head;
  std::printf("{\"kernel\":\"%s\",\"identity\":\"%" PRIu64 "\",\"fate\":%u,\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],",
              dispatch.kernel.c_str(), h.identity, h.fate, h.groups[0], h.groups[1], h.groups[2], h.items[0],
              h.items[1], h.items[2]);
  std::printf("\"recorded_groups\":%u,\"waves_per_group\":%u,\"wave_size\":%u,", h.recorded_groups, h.waves_per_group,
              h.wave_size);
  std::printf("\"wanted_words\":%" PRIu64 ",\"kept_words\":%" PRIu64 ",\"unknown\":%" PRIu64, h.wanted, h.kept,
              dispatch.unknown);
  std::printf(",\"figures\":[");
  for (size_t n = 0; n < dispatch.figures.size(); ++n) {
    if (n) std::printf(",");
    print_figures(dispatch.figures[n]);
  }
  std::printf("]}\n");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: count-records PLAN BANKS RECORDS\n");
    return 2;
  }
  const std::vector<Planned> plan = read_plan(arguments[1]);
  Content content(arguments[3]);
  Reader reader(plan, content, uint32_t(std::stoul(arguments[2])));
  while (!content.at_end()) {
    Dispatch dispatch{};
    const std::string wrong = reader.read(dispatch);
    if (!wrong.empty()) {
      std::fprintf(stderr, "%s: %s\n", arguments[3], wrong.c_str());
      return 1;
    }
    print(dispatch);
  }
  return 0;
}
