#include "othernumbers.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "signature.h"

namespace intelliperf {

namespace {

constexpr size_t kMostArguments = 6;

struct Said {  // by the parameters of one buffer
  AlteredBuffer of;
  bool mixed = false;  // not the same
};

simt::Number number_of(const std::string& type) {
  const ElementFacts facts = element_facts(type);
  const std::string encoding = facts.encoding;
  simt::Number number;
  number.bytes = static_cast<uint32_t>(facts.bytes);
  if (encoding == "float") number.kind = simt::NumberKind::kFloat;
  if (encoding == "signed" || encoding == "unsigned" || encoding == "char") number.kind = simt::NumberKind::kInteger;
  return number;
}

std::vector<ParameterType> types_of(const Launch& launch) {
  std::vector<ParameterType> types = parameter_types(launch.kernel);
  if (types.size() != launch.arguments.size()) types.clear();
  return types;
}

bool alterable(const simt::BufferNumbers& numbers) {
  if (numbers.number.kind == simt::NumberKind::kInteger) return !numbers.constant;
  return numbers.number.kind == simt::NumberKind::kFloat;
}

}  // namespace

simt::OtherNumbersMode other_numbers_mode() {
  const char* asked = std::getenv("INTELLIPERF_OTHER_NUMBERS");
  const int mode = asked ? std::atoi(asked) : 0;
  const bool known = mode > 0 && mode <= static_cast<int>(simt::OtherNumbersMode::kLarge);
  return known ? static_cast<simt::OtherNumbersMode>(mode) : simt::OtherNumbersMode::kNone;
}

std::vector<AlteredBuffer> altered_buffers(const Launch& launch, const Allocations& allocations) {
  const std::vector<ParameterType> types = types_of(launch);
  std::map<uint64_t, Said> found;  // by id
  for (size_t i = 0; i < types.size(); ++i) {
    uint64_t address = 0;
    if (types[i].kind != TypeClass::kPointer || launch.arguments[i].value.size() != sizeof address) continue;
    std::memcpy(&address, launch.arguments[i].value.data(), sizeof address);
    const Buffer* buffer = allocations.find(address);
    if (!buffer || buffer->kind == MemoryKind::kPinned || buffer->kind == MemoryKind::kRuntime) continue;
    const simt::Number number = number_of(types[i].element);
    const bool aligned = number.bytes && (address - buffer->base) % number.bytes == 0;
    const auto order = static_cast<uint32_t>(found.size());
    const auto [entry, fresh] = found.try_emplace(buffer->id);
    Said& said = entry->second;
    if (fresh) said.of = {*buffer, {number, true, order}};
    said.mixed |= !aligned || !(said.of.numbers.number == number);
    said.of.numbers.constant &= types[i].constant;
  }
  std::vector<AlteredBuffer> altered;
  for (const auto& [id, said] : found)
    if (!said.mixed && alterable(said.of.numbers)) altered.push_back(said.of);
  return altered;
}

bool write_altered(const std::vector<AlteredBuffer>& buffers, const Snapshot& snapshot, const Mover& mover,
                   uint64_t nth) {
  const simt::OtherNumbersMode mode = other_numbers_mode();
  for (const AlteredBuffer& one : buffers) {
    std::vector<char> content = snapshot.content(one.buffer.id);
    simt::alter(content.data(), content.size(), one.numbers, nth, mode);
    if (!content.empty() && !mover.write(one.buffer, content.data())) return false;
  }
  return true;
}

std::vector<Launch> with_other_arguments(const Launch& launch) {
  const std::vector<ParameterType> types = types_of(launch);
  std::vector<simt::PlainArgument> plain;
  for (size_t i = 0; i < types.size(); ++i) {
    const simt::Number number = number_of(types[i].text);
    if (types[i].kind == TypeClass::kScalar && number.bytes == launch.arguments[i].value.size())
      plain.push_back({i, number, launch.arguments[i].value.data()});
  }
  const simt::LaunchShape shape = {{launch.grid[0], launch.grid[1], launch.grid[2]},
                                   {launch.block[0], launch.block[1], launch.block[2]}};
  std::vector<Launch> altered;
  for (const auto& other : simt::other_arguments(plain, shape, {})) {
    if (altered.size() == kMostArguments) break;
    altered.push_back(launch);
    for (const simt::OtherArgument::Value& one : other.values) {
      std::vector<unsigned char>& value = altered.back().arguments[one.index].value;
      std::memcpy(value.data(), &one.bytes, value.size());
    }
    std::memcpy(altered.back().grid, other.grid.data(), sizeof launch.grid);
  }
  return altered;
}

}  // namespace intelliperf
