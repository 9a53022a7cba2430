// Modules made of a GPU's own code, beside those of code compiled for this processor.
#pragma once
#include "code_object.h"
#include "modules.h"

namespace simt {

// The metadata that our own compiler writes into a container, of a code object: its memory instructions and barriers are
// the sites, its basic blocks the blocks; both by address. Numbers the program's instructions accordingly.
// `file` is where the records have the code object.
std::string describe_code(CodeObject& code, const std::string& file, const std::string& source);

std::vector<Site> sites_of(const CodeObject& code);

// The arguments as the kernel reads them, hidden ones included.
struct LaunchRequest;
std::vector<char> argument_segment(const CodeKernel& kernel, const LaunchRequest& request);

}  // namespace simt
