// A sample of the requests that nobody looks at as they are made, because their lanes run one after another: each
// lane's address is kept until all have come by, and then counted like that of any other request.
//
// Every request of a site is drawn with the same chance, which is halved, for those drawn before too, whenever there
// are too many: what is left is a simple random sample of all of them.
#pragma once
#include <cstdint>
#include <vector>

#include "abi.h"
#include "lane.h"

namespace simt {

class Analysis;

struct Shape {  // what a request adds to the counts of its SiteRecord
  uint32_t draw;
  float lanes;  // of the event, whatever it was split into
  float field[kShapeFields];
};

class ShapeSample {
 public:
  struct Event {  // tells the requests of a wave between two barriers apart, for one site
    uint32_t stretch, way, pass, draw;
  };

  void begin_launch(Analysis& analysis, uint32_t sites);
  // Requests with a draw (of 31 bits) below it are to be logged.
  uint32_t threshold(uint32_t site) const { return thresholds_[site]; }
  void log(uint32_t site, const Event& event, const Lane& lane, const void* address, uint64_t bytes);
  // The same of lanes that make a request together. `ranges`: each goes to as many bytes as it says.
  void log(uint32_t site, const Event& event, const Group& group, bool ranges);
  void flush();  // no lane comes by any more
  uint32_t pending() const { return count_; }

  const std::vector<Shape>& shapes(uint32_t site) const { return sites_[site].shapes; }
  bool complete(uint32_t site) const { return thresholds_[site] == kAll; }

 private:
  static constexpr uint32_t kAll = 1u << 31;
  static constexpr uint32_t kMostOfASite = 4096, kMostPending = 32768;

  struct Pending {
    uint32_t site;
    Event event;
    uint32_t lanes;
    bool range, ascending;
    uint8_t position[kMaxWave];
    uint16_t thread[kMaxWave];
    uint64_t address[kMaxWave];
    uint64_t bytes[kMaxWave];  // of ranges
  };
  struct SiteSample {
    uint32_t drawn = 0;  // pending ones included
    std::vector<Shape> shapes;
  };

  Pending* find(uint32_t site, const Event& event);
  void halve(uint32_t site);
  void make_room();
  void enter(uint32_t number);
  void measure(Pending& pending);

  Analysis* analysis_ = nullptr;
  std::vector<uint32_t> thresholds_;
  std::vector<SiteSample> sites_;
  std::vector<Pending> pending_;
  uint32_t count_ = 0, last_ = 0;
  std::vector<uint32_t> index_;  // 1 + number of a pending one
};

}  // namespace simt
