#include "latecode.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Transforms/Scalar.h>
#include <llvm/Transforms/Utils/Cloning.h>

namespace intelliperf {

using namespace llvm;

namespace {

TargetPassConfig* add_configuration(legacy::PassManager& passes, TargetMachine& target, const Module& module) {
  passes.add(createTargetTransformInfoWrapperPass(target.getTargetIRAnalysis()));
  passes.add(new TargetLibraryInfoWrapperPass(Triple(module.getTargetTriple())));
#if LLVM_VERSION_MAJOR >= 20
  TargetPassConfig* configuration = target.createPassConfig(passes);
#else
  TargetPassConfig* configuration = static_cast<LLVMTargetMachine&>(target).createPassConfig(passes);
#endif
  passes.add(configuration);
  return configuration;
}

// Every access on its own line of a file that does not exist, and nothing else anywhere.
void number(Module& module, const Sites& sites, const ValueToValueMapTy& copies) {
  StripDebugInfo(module);
  DIBuilder builder(module);
  DIFile* file = builder.createFile("sites", "/");
  builder.createCompileUnit(dwarf::DW_LANG_C, file, "intelliperf", true, "", 0, "", DICompileUnit::LineTablesOnly);
  DISubroutineType* type = builder.createSubroutineType(builder.getOrCreateTypeArray({}));
  for (const Function* function : sites.functions) {
    auto* copy = cast<Function>(&*copies.lookup(function));
    copy->setSubprogram(builder.createFunction(file, copy->getName(), copy->getName(), file, 0, type, 0,
                                               DINode::FlagZero, DISubprogram::SPFlagDefinition));
  }
  for (size_t n = 0; n < sites.all.size(); ++n) {
    auto* copy = cast<Instruction>(&*copies.lookup(sites.all[n].instruction));
    copy->setDebugLoc(DILocation::get(module.getContext(), unsigned(n + 1), 0, copy->getFunction()->getSubprogram()));
  }
  builder.finalize();
  if (!module.getModuleFlag("Debug Info Version"))
    module.addModuleFlag(Module::Warning, "Debug Info Version", DEBUG_METADATA_VERSION);
}

}  // namespace

std::unique_ptr<TargetMachine> target_machine(const Function& function, unsigned level, std::string& error) {
  const Module& module = *function.getParent();
#if LLVM_VERSION_MAJOR >= 21
  const Triple& triple = module.getTargetTriple();
  const std::string& name = triple.str();
#else
  const std::string triple(module.getTargetTriple()), name = triple;
#endif
  const Target* target = TargetRegistry::lookupTarget(triple, error);
  if (!target) return nullptr;
  const auto value = [&](const char* name) { return function.getFnAttribute(name).getValueAsString(); };
  const CodeGenOptLevel levels[] = {CodeGenOptLevel::None, CodeGenOptLevel::Less, CodeGenOptLevel::Default,
                                    CodeGenOptLevel::Aggressive};
  TargetOptions options;
  options.MCOptions.AsmVerbose = true;  // its remarks tell spilled registers from the program's own accesses
  std::unique_ptr<TargetMachine> made(target->createTargetMachine(triple, value("target-cpu"), value("target-features"),
                                                                  options, Reloc::PIC_, std::nullopt,
                                                                  levels[level > 3 ? 3 : level]));
  if (!made) error = "no code generator for " + name;
  return made;
}

void run_late_passes(Module& module, TargetMachine& target) {
  legacy::PassManager passes;
  TargetPassConfig* configuration = add_configuration(passes, target, module);
  passes.add(createPreISelIntrinsicLoweringPass());
  configuration->addIRPasses();
  configuration->addCodeGenPrepare();
  if (target.getOptLevel() != CodeGenOptLevel::None) {
    passes.add(createFlattenCFGPass());
    passes.add(createSinkingPass());
  }
  configuration->setInitialized();
  passes.run(module);
}

std::string numbered_assembly(Module& module, const Sites& sites, TargetMachine& target) {
  ValueToValueMapTy copies;
  const std::unique_ptr<Module> copy = CloneModule(module, copies);
  number(*copy, sites, copies);
  SmallString<0> text;
  raw_svector_ostream out(text);
  legacy::PassManager passes;
  passes.add(createTargetTransformInfoWrapperPass(target.getTargetIRAnalysis()));
  passes.add(new TargetLibraryInfoWrapperPass(Triple(copy->getTargetTriple())));
  if (target.addPassesToEmitFile(passes, out, nullptr, CodeGenFileType::AssemblyFile)) return "";
  passes.run(*copy);
  return std::string(text);
}

}  // namespace intelliperf
