#include "consequences.h"

#include "dataflow.h"

namespace machine {

Consequences::Consequences(const Program& program, uint64_t entry) : program_(program), entry_(entry) {}
Consequences::~Consequences() = default;

bool Consequences::may_come_of(uint32_t load, uint32_t store) {
  const auto [at, fresh] = found_.try_emplace(load);
  Found& found = at->second;
  if (fresh) {
    if (!flow_) flow_ = std::make_unique<Dataflow>(program_);
    found.all = !flow_->follow(entry_, load, found.stores);
  }
  return found.all || (store < found.stores.size() && found.stores[store]);
}

}  // namespace machine
