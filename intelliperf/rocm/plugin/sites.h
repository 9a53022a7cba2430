// The memory accesses of the kernels that are looked at, and the table that tells the host about them.
#pragma once
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdint>
#include <string>
#include <vector>

namespace intelliperf {

struct Site {
  llvm::Instruction* instruction;
  llvm::Value* pointer;
  const char* kind;  // load, store, atomic
  uint64_t bytes;    // per lane
  std::string operation;
};

struct Sites {
  std::vector<Site> all;                   // a site's number is its place
  std::vector<llvm::Function*> functions;  // that hold them, or may: the kernels and what they call
  std::vector<llvm::Function*> kernels;
  unsigned indirect_calls = 0;       // whose targets are not followed
  std::vector<std::string> unknown;  // operations on memory that are not recorded
};

// `wanted`: symbols without what makes them unique per compilation, or "*".
std::vector<llvm::Function*> wanted_kernels(llvm::Module& module, const std::vector<std::string>& wanted);
Sites find_sites(llvm::Module& module, const std::vector<llvm::Function*>& kernels);
void write_table(const Sites& sites, const llvm::Module& module, uint64_t identity, llvm::raw_ostream& out);

}  // namespace intelliperf
