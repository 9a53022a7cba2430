// The files of the installation that this library belongs to: its drop-in compilers and the devices that it knows.
#pragma once
#include <string>

namespace simt {

// The path of one below the directory that INTELLIPERF_INSTALLATION names, or the file beside this library; empty where
// neither is there.
std::string installed(const std::string& relative);

}  // namespace simt
