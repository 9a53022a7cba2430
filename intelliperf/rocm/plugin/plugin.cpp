// A plugin of clang that makes chosen kernels record their memory accesses, in the last step of the optimizer.
//
// INTELLIPERF_SITES: directory for the table of sites and the machine code that they become.
// INTELLIPERF_INSTRUMENT: comma list of kernels, or "*".
#include <llvm/IR/Module.h>
#include <llvm/Passes/PassBuilder.h>
#if __has_include(<llvm/Plugins/PassPlugin.h>)  // since LLVM 22
#include <llvm/Plugins/PassPlugin.h>
#else
#include <llvm/Passes/PassPlugin.h>
#endif
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MD5.h>
#include <llvm/Support/Path.h>
#include <llvm/TargetParser/Triple.h>

#include <cstdlib>

#include "latecode.h"
#include "places.h"
#include "recorder.h"
#include "sites.h"

namespace {

using namespace llvm;

std::vector<std::string> words_of(const char* name) {
  std::vector<std::string> words;
  SmallVector<StringRef> parts;
  if (const char* text = std::getenv(name)) StringRef(text).split(parts, ',', -1, false);
  for (const StringRef part : parts) words.push_back(part.str());
  return words;
}

void write(const std::string& directory, uint64_t identity, const char* suffix, const std::string& text) {
  SmallString<256> path(directory);
  sys::path::append(path, std::to_string(identity) + suffix);
  std::error_code error;
  raw_fd_ostream out(path, error);
  if (error) report_fatal_error(Twine("cannot write ") + path + ": " + error.message(), false);
  out << text;
}

uint64_t identity_of(const Module& module) {
  std::string text;
  raw_string_ostream(text) << module;
  const uint64_t hash = MD5Hash(text);
  return hash ? hash : 1;
}

// Null where nothing is to be recorded: the same plugin is loaded for every compilation.
const char* directory_for(const Module& module) {
  return Triple(module.getTargetTriple()).isAMDGCN() ? std::getenv("INTELLIPERF_SITES") : nullptr;
}

struct KeepPlaces : PassInfoMixin<KeepPlaces> {
  PreservedAnalyses run(Function& function, FunctionAnalysisManager&) {
    if (directory_for(*function.getParent())) intelliperf::keep_places(function);
    return PreservedAnalyses::all();
  }
};

unsigned speed_of(OptimizationLevel level) {
#if LLVM_VERSION_MAJOR >= 23
  return static_cast<unsigned>(level);
#else
  return level.getSpeedupLevel();
#endif
}

struct RecordAccesses : PassInfoMixin<RecordAccesses> {
  explicit RecordAccesses(OptimizationLevel level) : level(speed_of(level)) {}

  PreservedAnalyses run(Module& module, ModuleAnalysisManager&) {
    const char* directory = directory_for(module);
    if (!directory) return PreservedAnalyses::all();
    const auto kernels = intelliperf::wanted_kernels(module, words_of("INTELLIPERF_INSTRUMENT"));
    if (kernels.empty()) return PreservedAnalyses::all();
    std::string error;
    const auto target = intelliperf::target_machine(*kernels[0], level, error);
    if (!target) report_fatal_error(Twine("accesses cannot be recorded: ") + error, false);
    const uint64_t identity = identity_of(module);
    intelliperf::restore_places(module);
    intelliperf::run_late_passes(module, *target);
    const intelliperf::Sites sites = intelliperf::find_sites(module, kernels);
    write(directory, identity, ".s", intelliperf::numbered_assembly(module, sites, *target));
    std::string table;
    raw_string_ostream stream(table);
    intelliperf::write_table(sites, module, identity, stream);
    write(directory, identity, ".json", stream.str());
    intelliperf::add_records(module, sites, identity);
    return PreservedAnalyses::none();
  }

  static bool isRequired() { return true; }
  unsigned level;
};

}  // namespace

extern "C" __attribute__((visibility("default"))) PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "intelliperf", "1", [](PassBuilder& builder) {
            builder.registerPeepholeEPCallback(
                [](FunctionPassManager& passes, OptimizationLevel) { passes.addPass(KeepPlaces()); });
            builder.registerOptimizerLastEPCallback([](ModulePassManager& passes, OptimizationLevel level
#if LLVM_VERSION_MAJOR >= 20
                                                       ,
                                                       ThinOrFullLTOPhase
#endif
                                                    ) { passes.addPass(RecordAccesses(level)); });
          }};
}
