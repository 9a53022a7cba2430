#include "sites.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Support/JSON.h>

#include <map>
#include <set>

#include "places.h"

namespace intelliperf {

using namespace llvm;

namespace {

// As in symbols.py.
std::string plain(StringRef name) {
  for (const StringRef mark : {".intern.", ".static.", "__intern__", "__static__"}) {
    const size_t at = name.rfind(mark);
    if (at == StringRef::npos || at == 0) continue;
    const StringRef hash = name.substr(at + mark.size());
    if (!hash.empty() && hash.find_first_not_of("0123456789abcdef") == StringRef::npos) return name.substr(0, at).str();
  }
  return name.str();
}

// AMDGPU's address spaces.
enum Space : unsigned { kFlat = 0, kGlobal = 1, kLds = 3, kConstant = 4, kPrivate = 5 };

bool is_recorded(unsigned space) {
  return space == kFlat || space == kGlobal || space == kLds || space == kPrivate || space == kConstant;
}

// Arguments and the shape of the launch, which scalar instructions load.
bool is_input(const Value* pointer) {
  const auto* from = dyn_cast<IntrinsicInst>(pointer->stripInBoundsConstantOffsets());
  return from && pointer->getType()->getPointerAddressSpace() == kConstant;
}

void add(Sites& sites, Instruction& i, Value* pointer, const char* kind, Type* type, std::string operation) {
  if (!is_recorded(pointer->getType()->getPointerAddressSpace()) || is_input(pointer)) return;
  const uint64_t bytes = i.getModule()->getDataLayout().getTypeStoreSize(type).getFixedValue();
  sites.all.push_back({&i, pointer, kind, bytes, std::move(operation)});
}

void add_intrinsic(Sites& sites, IntrinsicInst& i) {
  const StringRef name = i.getCalledFunction()->getName();
  if (auto* transfer = dyn_cast<AnyMemTransferInst>(&i)) {
    const auto* length = dyn_cast<ConstantInt>(transfer->getLength());
    if (!length) return sites.unknown.push_back(name.str());
    const uint64_t bytes = length->getZExtValue();
    sites.all.push_back({&i, transfer->getRawSource(), "load", bytes, "memcpy"});
    sites.all.push_back({&i, transfer->getRawDest(), "store", bytes, "memcpy"});
    return;
  }
  if (auto* fill = dyn_cast<AnyMemSetInst>(&i)) {
    const auto* length = dyn_cast<ConstantInt>(fill->getLength());
    if (!length) return sites.unknown.push_back(name.str());
    sites.all.push_back({&i, fill->getRawDest(), "store", length->getZExtValue(), "memset"});
    return;
  }
  const bool touches = i.mayReadOrWriteMemory() && !i.onlyAccessesInaccessibleMemory();
  if (!touches || i.isAssumeLikeIntrinsic() || !name.starts_with("llvm.amdgcn.")) return;
  const bool atomic = name.contains(".atomic.") || name.contains(".ds.f");
  if (atomic && i.arg_size() > 1 && i.getArgOperand(0)->getType()->isPointerTy())
    return add(sites, i, i.getArgOperand(0), "atomic", i.getArgOperand(1)->getType(), "atomic");
  for (const StringRef other :
       {"buffer", "image", "ds.append", "ds.consume", "ds.ordered", "gws", "load.lds", "load.tr"})
    if (name.contains(other)) return sites.unknown.push_back(name.str());
}

void add_sites(Sites& sites, Function& function) {
  for (BasicBlock& block : function)
    for (Instruction& i : block) {
      if (auto* load = dyn_cast<LoadInst>(&i)) {
        add(sites, i, load->getPointerOperand(), "load", load->getType(), "load");
      } else if (auto* store = dyn_cast<StoreInst>(&i)) {
        add(sites, i, store->getPointerOperand(), "store", store->getValueOperand()->getType(), "store");
      } else if (auto* atomic = dyn_cast<AtomicRMWInst>(&i)) {
        add(sites, i, atomic->getPointerOperand(), "atomic", atomic->getType(),
            "atomicrmw " + AtomicRMWInst::getOperationName(atomic->getOperation()).str());
      } else if (auto* exchange = dyn_cast<AtomicCmpXchgInst>(&i)) {
        add(sites, i, exchange->getPointerOperand(), "atomic", exchange->getNewValOperand()->getType(), "cmpxchg");
      } else if (auto* intrinsic = dyn_cast<IntrinsicInst>(&i)) {
        add_intrinsic(sites, *intrinsic);
      } else if (auto* call = dyn_cast<CallBase>(&i)) {
        sites.indirect_calls += call->isIndirectCall();
      }
    }
}

std::vector<Function*> reached(const std::vector<Function*>& kernels) {
  std::vector<Function*> found(kernels);
  std::set<Function*> known(kernels.begin(), kernels.end());
  for (size_t n = 0; n < found.size(); ++n)
    for (BasicBlock& block : *found[n])
      for (Instruction& i : block) {
        auto* call = dyn_cast<CallBase>(&i);
        Function* callee = call ? call->getCalledFunction() : nullptr;
        if (callee && !callee->isDeclaration() && known.insert(callee).second) found.push_back(callee);
      }
  return found;
}

json::Array chain_of(const Instruction& i) {
  json::Array frames;
  for (const DILocation* at = i.getDebugLoc().get(); at; at = at->getInlinedAt()) {
    const StringRef directory = at->getDirectory(), file = at->getFilename();
    const DISubprogram* inside = at->getScope()->getSubprogram();
    const bool relative = !file.empty() && file.front() != '/' && !directory.empty();
    frames.push_back(json::Object{{"file", relative ? (directory + "/" + file).str() : file.str()},
                                  {"line", int64_t(at->getLine())},
                                  {"column", int64_t(at->getColumn())},
                                  {"function", inside ? inside->getName().str() : ""}});
  }
  return frames;
}

}  // namespace

std::vector<Function*> wanted_kernels(Module& module, const std::vector<std::string>& wanted) {
  const std::set<std::string> names(wanted.begin(), wanted.end());
  std::vector<Function*> found;
  for (Function& function : module)
    if (!function.isDeclaration() && function.getCallingConv() == CallingConv::AMDGPU_KERNEL &&
        (names.count("*") || names.count(plain(function.getName()))))
      found.push_back(&function);
  return found;
}

Sites find_sites(Module&, const std::vector<Function*>& kernels) {
  Sites sites;
  sites.kernels = kernels;
  sites.functions = reached(kernels);
  for (Function* function : sites.functions) add_sites(sites, *function);
  return sites;
}

void write_table(const Sites& sites, const Module& module, uint64_t identity, raw_ostream& out) {
  std::map<const Value*, int64_t> bases;
  const DataLayout& layout = module.getDataLayout();
  json::Array entries, kernels, unknown, functions;
  for (const Site& site : sites.all) {
    const unsigned space = site.pointer->getType()->getPointerAddressSpace();
    APInt offset(layout.getIndexSizeInBits(space), 0);
    const Value* base = site.pointer->stripAndAccumulateConstantOffsets(layout, offset, true);
    const int64_t number = bases.emplace(base, int64_t(bases.size())).first->second;
    // A copy is one instruction with two accesses, and has one line: the last one's.
    const bool first_of_two =
        entries.size() + 1 < sites.all.size() && sites.all[entries.size() + 1].instruction == site.instruction;
    entries.push_back(json::Object{{"written_as", int64_t(entries.size() + first_of_two)},
                                   {"function", site.instruction->getFunction()->getName().str()},
                                   {"kind", site.kind},
                                   {"operation", site.operation},
                                   {"space", int64_t(space)},
                                   {"bytes", int64_t(site.bytes)},
                                   {"returns", !site.instruction->use_empty()},
                                   {"base", number},
                                   {"offset", offset.getSExtValue()},
                                   {"moved", is_moved(*site.instruction)},
                                   {"chain", chain_of(*site.instruction)}});
  }
  for (const Function* kernel : sites.kernels) kernels.push_back(kernel->getName().str());
  for (const Function* function : sites.functions) functions.push_back(function->getName().str());
  for (const std::string& name : sites.unknown) unknown.push_back(name);
  out << json::Value(json::Object{{"version", 1},
                                  {"module", std::to_string(identity)},
                                  {"source", module.getSourceFileName()},
                                  {"kernels", std::move(kernels)},
                                  {"functions", std::move(functions)},
                                  {"indirect_calls", int64_t(sites.indirect_calls)},
                                  {"unknown", std::move(unknown)},
                                  {"sites", std::move(entries)}})
      << '\n';
}

}  // namespace intelliperf
