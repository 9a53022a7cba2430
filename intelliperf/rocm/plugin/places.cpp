#include "places.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/TrackingMDRef.h>

#include <vector>

namespace intelliperf {

using namespace llvm;

namespace {

// Annotations are the one kind of metadata that stays when an access is moved out of a loop.
constexpr StringRef kMark = "intelliperf.place.";

std::vector<TrackingMDNodeRef>& kept() {
  static std::vector<TrackingMDNodeRef> places;
  return places;
}

bool is_mark(const MDOperand& operand) {
  const auto* text = dyn_cast_or_null<MDString>(operand.get());
  return text && text->getString().starts_with(kMark);
}

void mark(Instruction& access, size_t number) {
  LLVMContext& context = access.getContext();
  SmallVector<Metadata*, 2> words;
  if (const MDNode* before = access.getMetadata(LLVMContext::MD_annotation))
    for (const MDOperand& operand : before->operands())
      if (!is_mark(operand)) words.push_back(operand.get());
  words.push_back(MDString::get(context, (kMark + Twine(number)).str()));
  access.setMetadata(LLVMContext::MD_annotation, MDTuple::get(context, words));
}

const DILocation* place_of(const Instruction& access) {
  const MDNode* words = access.getMetadata(LLVMContext::MD_annotation);
  if (!words) return nullptr;
  for (const MDOperand& operand : words->operands()) {
    size_t number = 0;
    if (!is_mark(operand) || cast<MDString>(operand.get())->getString().substr(kMark.size()).getAsInteger(10, number))
      continue;
    if (number < kept().size()) return dyn_cast_or_null<DILocation>(kept()[number].get());
  }
  return nullptr;
}

}  // namespace

void keep_places(Function& function) {
  for (Instruction& i : instructions(function)) {
    const DebugLoc& place = i.getDebugLoc();
    if (!i.mayReadOrWriteMemory() || !place || place.getLine() == 0) continue;
    if (place_of(i) == place.get()) continue;
    mark(i, kept().size());
    kept().emplace_back(place.get());
  }
}

void restore_places(Module& module) {
  for (Function& function : module)
    for (Instruction& i : instructions(function)) {
      const DILocation* place = i.getDebugLoc() ? nullptr : place_of(i);
      if (!place || !function.getSubprogram() ||
          place->getInlinedAtScope()->getSubprogram() != function.getSubprogram())
        continue;
      i.setDebugLoc(DILocation::get(i.getContext(), place->getLine(), place->getColumn(), place->getScope(),
                                    place->getInlinedAt(), true));
    }
}

bool is_moved(const Instruction& access) { return access.getDebugLoc() && access.getDebugLoc()->isImplicitCode(); }

}  // namespace intelliperf
