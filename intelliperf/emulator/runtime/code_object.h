// An AMDGPU code object as the compiler writes it (LLVM, "User Guide for AMDGPU Backend", code object V3 to V6): loaded
// into memory, its text decoded, and what its metadata says of each kernel.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "group.h"
#include "program.h"

namespace simt {

enum class ArgumentKind : uint8_t {
  kValue,
  kPointer,
  kDynamicShared,
  kBlockCountX,
  kBlockCountY,
  kBlockCountZ,
  kGroupSizeX,
  kGroupSizeY,
  kGroupSizeZ,
  kRemainderX,
  kRemainderY,
  kRemainderZ,
  kGridDimensions,
  kDynamicSharedBytes,
  kPrivateBase,
  kSharedBase,
  kHostRequests,
  kZero,  // offsets, and buffers for services that the host does not give
};

struct CodeArgument {
  std::string name;
  uint32_t offset = 0, size = 0;
  ArgumentKind kind = ArgumentKind::kValue;
  bool constant = false;  // nothing is written through the pointer
  bool hidden() const { return kind > ArgumentKind::kDynamicShared; }
};

struct CodeKernel {
  std::string name;
  const machine::KernelDescriptor* descriptor = nullptr;
  std::vector<CodeArgument> arguments;
  uint32_t argument_bytes = 0, lds_bytes = 0, scratch_bytes = 0, max_threads = 0;
  uint32_t vgprs = 0, agprs = 0, sgprs = 0, vgpr_spills = 0, sgpr_spills = 0;
  uint64_t entry = 0, end = 0;  // of its own function
};

struct CodeVariable {
  std::string name;
  uint64_t address = 0, bytes = 0;
  bool constant = false;
};

class CodeObject {
 public:
  // Null where the bytes are none for a chip that can be executed, with the reason in `why`. A bundle's first code
  // object for `architecture` (empty: for any) is taken.
  static std::unique_ptr<CodeObject> load(const char* image, const std::string& architecture, std::string* why);
  // How the image begins: an ELF file for AMD GPUs, or clang's bundle.
  static bool looks_like(const char* image);
  ~CodeObject();
  CodeObject(const CodeObject&) = delete;
  CodeObject& operator=(const CodeObject&) = delete;

  const std::string& architecture() const { return architecture_; }
  machine::Family family() const { return family_; }
  const std::vector<CodeKernel>& kernels() const { return kernels_; }
  const std::vector<CodeVariable>& variables() const { return variables_; }
  machine::Program& program() { return *program_; }
  const machine::Program& program() const { return *program_; }
  uint64_t base() const { return base_; }
  uint64_t bytes() const { return bytes_; }
  const std::vector<char>& image() const { return image_; }  // as the compiler wrote it, with its debug information

 private:
  CodeObject() = default;
  bool map(std::string* why);
  bool read_symbols(std::string* why);
  bool read_metadata(std::string* why);
  void relocate();

  std::vector<char> image_;
  std::string architecture_;
  machine::Family family_ = machine::Family::kGfx90a;
  uint64_t base_ = 0, bytes_ = 0;
  std::vector<CodeKernel> kernels_;
  std::vector<CodeVariable> variables_;
  std::unique_ptr<machine::Program> program_;
};

}  // namespace simt
