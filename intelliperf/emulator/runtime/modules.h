// Modules: the containers of instrumented device code that the host objects register, their kernels and
// variables. A module is loaded (dlopen of a memfd) when one of its kernels or variables is first used.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "abi.h"
#include "alterations.h"
#include "json.h"

namespace simt {

using KernelEntry = void (*)(void** arguments);

struct Module;
class CodeObject;
struct CodeKernel;

struct Member {
  uint64_t offset;
  Number number;
};

struct Parameter {
  uint32_t index;
  uint64_t size;                   // bytes at arguments[index]
  bool pointer;                    // the parameter itself is a pointer
  std::vector<uint64_t> pointers;  // offsets of pointers within the parameter (0 if it is one itself)
  Number number;                   // what it is, or what all behind a pointer consists of
  std::vector<Member> members;     // of each element behind a pointer, where these are numbers of several kinds
  uint64_t stride = 0;             // bytes of such an element
  bool constant = false;           // const behind the pointer
  uint32_t multiple = 1;           // a just-in-time compiler took the number for a multiple of this
  std::string name{};              // in the source, where that is known
};

// Loads and stores of memory private to a thread (spills, arrays that registers cannot hold) which run as often as
// these basic blocks do; where there are several, as often as they do on average.
struct LocalAccesses {
  std::vector<uint32_t> blocks;
  uint32_t loads = 0, stores = 0;
  uint32_t load_bytes = 0, store_bytes = 0;  // of one thread, all together
};

struct StaticFacts {  // of the real target's compiler; absent if that compile was not made
  bool known = false;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0;  // on NVIDIA vgprs are registers per thread
  uint32_t lds_bytes = 0, scratch_bytes = 0;
  uint32_t vgpr_spills = 0, sgpr_spills = 0;
  uint32_t instructions = 0;
  bool local_known = false;
  std::vector<LocalAccesses> local;
};

struct Kernel;

struct OtherConstants {  // that a just-in-time compiler was given in place of a kernel's own
  std::string how;       // they differ, for people
  Kernel* kernel = nullptr;
  uint32_t lds_bytes = 0;  // dynamic
};

struct Kernel {
  std::string name;     // mangled: its identity
  std::string display;  // demangled
  Module* module = nullptr;
  const void* host_function = nullptr;          // the stub's address, the handle of launches
  KernelEntry fast = nullptr, trace = nullptr;  // null until resolved; in a run with shadows `fast` has them
  KernelEntry plain = nullptr;                  // then the version without
  std::vector<Parameter> parameters;
  bool has_parameters = false;  // false: metadata lacks this kernel (arguments cannot be exported)
  uint32_t static_lds = 0;      // bytes
  StaticFacts facts;
  uint32_t max_threads = 0;          // of __launch_bounds__; 0: not given
  uint64_t dynamic_lds_limit = 0;    // set through FuncSetAttribute; 0: the device's default
  int carveout = -1;                 // preferred, percent
  const CodeKernel* code = nullptr;  // of a GPU's own code; null: compiled for this processor
  std::vector<uint32_t> tiles;  // of a program in a language of tiles: their sizes, where that may be what they are
  Kernel* general = nullptr;    // the same without what was known of its numbers; null: there is none
  uint32_t general_lds = 0;     // dynamic LDS of that, bytes
  std::vector<OtherConstants> other_constants;  // the same for other constants of its compilation
  void* state = nullptr;                        // the launcher's own, owned by it
};

struct Variable {
  std::string name;  // mangled
  Module* module = nullptr;
  void* host_variable = nullptr;  // the shadow's address, the handle of symbol functions
  uint64_t bytes = 0;
  uint64_t guard = 0;  // bytes behind it that nobody uses
  bool constant = false;
  Number number;  // what it consists of
  bool managed = false;
  bool fixed = false;       // as the program's text has it: neither kernels nor the host can write it
  bool mirrored = false;    // CUDA's __managed__: the host reads and writes its own copy between launches
  void* address = nullptr;  // null until the module is loaded
};

struct Module {
  uint32_t id = 0;  // module-<id>.json
  const ContainerHeader* container = nullptr;
  JsonValue metadata;
  std::string metadata_text;
  std::string target;  // name of the device file it was built for
  uint32_t wave_size = 0;
  std::shared_ptr<CodeObject> code;  // null: compiled for this processor
  const char* image = nullptr;       // of a GPU's own code, until it is loaded
  void* handle = nullptr;            // of dlopen; null until loaded
  // Valid once loaded:
  const Site* sites = nullptr;
  std::vector<Site> corrected_sites;  // what `sites` points to
  uint32_t site_count = 0;
  std::vector<uint64_t> own_executions;  // of a GPU's own code, what `block_executions` points to
  uint64_t* block_executions = nullptr;
  uint32_t block_count = 0;
  const uint8_t* reached = nullptr;  // of a build that is judged: what its versions executed, see ir/reach.py
  uint32_t reached_count = 0;
  char* shared_begin = nullptr;
  char* shared_end = nullptr;
  std::vector<SharedVariable> shared_variables;  // by address
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::unique_ptr<Variable>> variables;
};

const std::vector<std::unique_ptr<Module>>& modules();

// The code object that holds `address`; null if none does.
const CodeObject* code_around(uint64_t address);

// By the host stub's address or by that of the shadow variable; loads the module. Null if unknown or broken,
// with the reason on stderr.
Kernel* find_kernel(const void* host_function);
Variable* find_variable(const void* host_variable);

// Loads the module at once if the host may use its managed variables, which begin with the device's values.
void provide_mirrored(Module& module);
// Copies a module's mirrored variables to the device before a launch and back after it.
void mirror_to_device(const Module& module);
void mirror_to_host(const Module& module);

// All LDS of all loaded modules is [shared_begin, shared_end) of its module.
const Module* module_of_shared(uintptr_t address);

}  // namespace simt
