#include "installation.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace simt {

std::string installed(const std::string& relative) {
  const char* const named = std::getenv("INTELLIPERF_INSTALLATION");
  std::string root = named ? named : "";
  Dl_info self{};
  if (root.empty() && dladdr(reinterpret_cast<void*>(&installed), &self) && self.dli_fname) {
    char whole[4096];  // programs reach it through links by other libraries' names
    const std::string place = realpath(self.dli_fname, whole) ? whole : self.dli_fname;
    std::ifstream beside(place.substr(0, place.rfind('/')) + "/installation");
    std::getline(beside, root);
  }
  const std::string path = root + "/" + relative;
  return !root.empty() && access(path.c_str(), R_OK) == 0 ? path : "";
}

}  // namespace simt
