#include "rtc.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

#include "device_image.h"
#include "installation.h"
#include "modules.h"

namespace simt {

namespace {

constexpr int kRefused = 1;  // exit status of the compiler: errors in the source; others are ours

// A directory for one compilation, which vanishes with it.
class Exchange {
 public:
  Exchange() {
    const char* const chosen = std::getenv("TMPDIR");
    for (const char* place : {chosen, "/tmp", "."}) {
      if (!place || !*place) continue;
      std::string pattern = std::string(place) + "/intelliperf-rtc-XXXXXX";
      if (!mkdtemp(pattern.data())) continue;
      char whole[4096];
      path_ = realpath(pattern.c_str(), whole) ? whole : pattern;
      return;
    }
  }
  ~Exchange() {
    if (!path_.empty()) remove_tree(path_);
  }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  const std::string& path() const { return path_; }

  bool write(const std::string& name, const std::string& text) const {
    const std::string file = path_ + "/" + name;
    for (size_t at = path_.size() + 1; (at = file.find('/', at)) != std::string::npos; ++at)
      mkdir(file.substr(0, at).c_str(), 0700);
    std::ofstream out(file, std::ios::binary);
    out << text;
    return bool(out.flush());
  }
  std::vector<char> read(const char* name) const {
    std::ifstream in(path_ + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

 private:
  static void remove_tree(const std::string& path) {
    if (DIR* const directory = opendir(path.c_str())) {
      while (const dirent* entry = readdir(directory)) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        if (entry->d_type == DT_DIR)
          remove_tree(path + "/" + name);
        else
          unlink((path + "/" + name).c_str());
      }
      closedir(directory);
    }
    rmdir(path.c_str());
  }
  std::string path_;
};

std::string lines(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + "\n";
  return text;
}

// What our runs are told is not for the compiler, and neither is what the program has preloaded.
std::vector<char*> compiler_environment() {
  std::vector<char*> kept;
  for (char** at = environ; *at; ++at)
    if (std::strncmp(*at, "LD_PRELOAD=", 11) != 0 && std::strncmp(*at, "INTELLIPERF_TRACE", 17) != 0 &&
        std::strncmp(*at, "INTELLIPERF_EXPORT", 18) != 0)
      kept.push_back(*at);
  kept.push_back(nullptr);
  return kept;
}

// The exit status; -1 where it could not be run.
int run_compiler(const std::string& program, const char* language, const std::string& target,
                 const Exchange& exchange) {
  std::vector<std::string> words{program, language, target, exchange.path()};
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  const std::string log = exchange.path() + "/log";
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 2, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 2, 1);
  pid_t child = 0;
  const int failed =
      posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), compiler_environment().data());
  posix_spawn_file_actions_destroy(&actions);
  if (failed) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The chip that the rest of the program was built for, if anything was.
std::string target_of_program() {
  for (const auto& module : modules())
    if (!module->target.empty()) return module->target;
  return "";
}

RtcOutcome unavailable(RtcProgram& program, const std::string& why) {
  program.log = "intelliperf: run-time compilation is not possible: " + why + "\n";
  std::fputs(program.log.c_str(), stderr);
  return RtcOutcome::kInternal;
}

void take_names(RtcProgram& program, const std::vector<char>& names) {
  size_t at = 0;
  for (const std::string& expression : program.expressions) {
    std::string name;
    while (at < names.size() && names[at] != '\n') name += names[at++];
    ++at;
    if (!name.empty()) program.lowered[expression] = name;
  }
}

}  // namespace

RtcOutcome rtc_compile(RtcProgram& program, const std::vector<std::string>& options) {
  const std::string compiler = installed("bin/intelliperf-rtc");
  if (compiler.empty()) return unavailable(program, "start the program with intelliperf, which has the compiler");
  const Exchange exchange;
  bool written = !exchange.path().empty() && exchange.write("source", program.source) &&
                 exchange.write("name", program.name) && exchange.write("options", lines(options)) &&
                 exchange.write("expressions", lines(program.expressions));
  for (const auto& [name, text] : program.headers) written = written && exchange.write("headers/" + name, text);
  if (!written) return unavailable(program, "no directory for temporary files can be written; set TMPDIR");
  const char* const language = program.vendor == Vendor::kCuda ? "cuda" : "hip";
  const int status = run_compiler(compiler, language, target_of_program(), exchange);
  const std::vector<char> log = exchange.read("log");
  program.log.assign(log.begin(), log.end());
  if (status == kRefused) return RtcOutcome::kCompilation;
  program.image = exchange.read("container");
  if (status != 0 || program.image.empty()) return unavailable(program, "the compiler failed: " + program.log);
  program.text = image_as_text(program.image);
  take_names(program, exchange.read("names"));
  program.compiled = true;
  return RtcOutcome::kDone;
}

}  // namespace simt
