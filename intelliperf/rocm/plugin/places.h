// Which line an access is of, also after the optimizer has moved it and dropped its place in the source.
#pragma once
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

namespace intelliperf {

// Called again and again in between: a place is known best right after inlining.
void keep_places(llvm::Function& function);
// Gives accesses without a place the one that was kept. The program itself would have none there.
void restore_places(llvm::Module& module);
bool is_moved(const llvm::Instruction& access);

}  // namespace intelliperf
