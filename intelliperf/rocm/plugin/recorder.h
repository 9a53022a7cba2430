// The instructions that record an access: who (lanes of which wave), where (site), which addresses.
#pragma once
#include <llvm/IR/Module.h>

#include <cstdint>

#include "sites.h"

namespace intelliperf {

// Before every site; into the buffers that the tools library names in a variable of the module (records.h).
void add_records(llvm::Module& module, const Sites& sites, uint64_t identity);

}  // namespace intelliperf
