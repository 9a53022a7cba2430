// Registration: what the host objects' constructors tell, before main.
#pragma once
#include "modules.h"

namespace simt {

// Ends the process with a message if `container` is not a container of this release.
Module* register_module(const void* container);
// Of a GPU's own code; ready to run.
Module* register_code(std::shared_ptr<CodeObject> code);
// Null where no device is modelled or the image is not for it, with the reason in `why`.
std::shared_ptr<CodeObject> load_code(const char* image, std::string* why);
// The library that carried it is going away: its addresses mean nothing any more. What was recorded stays.
void unregister_module(Module& module);
void register_kernel(Module& module, const void* host_function, const char* name, int max_threads);
Variable* register_variable(Module& module, void* host_variable, const char* name, uint64_t bytes, bool constant);
void register_managed(Module& module, void** host_pointer, const void* initial, const char* name, uint64_t bytes);

}  // namespace simt
