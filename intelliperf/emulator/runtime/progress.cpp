#include "progress.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <new>
#include <string>

#include "grid_run.h"
#include "settings.h"

namespace simt {
namespace {

constexpr char kMark[9] = "IPPROG01";

// Null where there is no room for the file: progress is worth no failure.
void* map_page(const std::string& directory, size_t bytes) {
  const std::string path = directory + "/" + std::to_string(getpid());
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (posix_fallocate(descriptor, 0, off_t(bytes)) == 0)
    mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

Progress& Progress::instance() {
  static Progress* progress = new Progress;  // kernels may run in destructors of the application
  return *progress;
}

Progress::Progress() {
  const std::string& directory = settings().progress_directory;
  void* mapped = directory.empty() ? nullptr : map_page(directory, sizeof(Page));
  if (!mapped) return;
  page_ = new (mapped) Page{};
  memcpy(page_->mark, kMark, sizeof page_->mark);
}

void Progress::begin(const Kernel& kernel, uint64_t blocks, bool counts) {
  Page& page = *page_;
  const uint64_t before = page.sequence.load(std::memory_order_relaxed);
  page.sequence.store(before + 1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  page.launches.store(page.launches.load(std::memory_order_relaxed) + counts, std::memory_order_relaxed);
  page.blocks.store(blocks, std::memory_order_relaxed);
  page.ended.store(0, std::memory_order_relaxed);
  page.began_ns = host_now_ns();
  page.running.store(1, std::memory_order_relaxed);
  const std::string& name = kernel.display.empty() ? kernel.name : kernel.display;
  strncpy(page.kernel, name.c_str(), sizeof page.kernel - 1);
  page.sequence.store(before + 2, std::memory_order_release);
}

}  // namespace simt
