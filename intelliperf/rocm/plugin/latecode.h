// What the target's code generator does to a module after the optimizer, as far as it still is LLVM IR.
#pragma once
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "sites.h"

namespace intelliperf {

// As for `function`'s processor; null, with `error` filled in, where the target is not there.
std::unique_ptr<llvm::TargetMachine> target_machine(const llvm::Function& function, unsigned level, std::string& error);

// Merges and splits accesses, optimizes atomics and moves private arrays as the code generator would do it.
void run_late_passes(llvm::Module& module, llvm::TargetMachine& target);

// The machine code of `sites.module` as it would be without records, as assembly in which the line of an access is its
// site's number plus one. Empty where the target writes none.
std::string numbered_assembly(llvm::Module& module, const Sites& sites, llvm::TargetMachine& target);

}  // namespace intelliperf
