// hipRAND's and cuRAND's host API: Philox4x32-10 (Salmon et al., SC 2011), computed here, written to device memory.
#include <algorithm>
#include <cmath>
#include <set>

#include "export.h"
#include "host_api.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

struct Generator {
  bool on_host = false;
  uint64_t seed = 0, offset = 0;
  Stream* stream = nullptr;
};

namespace host {

namespace {

enum RandomStatus : int {
  kRandomSuccess = 0,
  kRandomNotInitialized = 101,
  kRandomTypeError = 103,
  kRandomOutOfRange = 104,
  kRandomLengthNotMultiple = 105,
  kRandomLaunchFailure = 201,
};

constexpr double kTwoPi = 6.283185307179586476925;
constexpr double kLargestInvertedLambda = 500;  // above, the normal approximation

std::set<Generator*>& generators() {
  static auto* const instance = new std::set<Generator*>;
  return *instance;
}

struct Block {
  uint32_t word[4];
};

Block philox(uint64_t counter, uint64_t seed) {
  Block x{{static_cast<uint32_t>(counter), static_cast<uint32_t>(counter >> 32), 0, 0}};
  auto key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * x.word[0], b = uint64_t{0xCD9E8D57} * x.word[2];
    x = Block{{static_cast<uint32_t>(b >> 32) ^ x.word[1] ^ key0, static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ x.word[3] ^ key1, static_cast<uint32_t>(a)}};
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return x;
}

// The generator's stream of words; each call of Generate… goes on where the last one ended.
class Words {
 public:
  explicit Words(Generator& generator) : generator_(generator) {}
  uint32_t next() {
    const uint64_t at = generator_.offset++;
    if (at / 4 != counter_ || !filled_) {
      counter_ = at / 4;
      block_ = philox(counter_, generator_.seed);
      filled_ = true;
    }
    return block_.word[at % 4];
  }
  float uniform() { return static_cast<float>(next()) * 2.3283064e-10f + 1.1641532e-10f; }  // (0, 1]
  double uniform_double() {
    const uint64_t high = next();
    return (static_cast<double>((high << 21) ^ (next() >> 11)) + 0.5) * 0x1p-53;
  }

 private:
  Generator& generator_;
  Block block_{};
  uint64_t counter_ = 0;
  bool filled_ = false;
};

double normal(Words& words) {  // Box and Muller, one of the two
  const double radius = std::sqrt(-2 * std::log(words.uniform_double()));
  return radius * std::cos(kTwoPi * words.uniform_double());
}

unsigned int poisson(Words& words, double lambda) {
  if (lambda > kLargestInvertedLambda) return static_cast<unsigned int>(std::max(0.0, std::floor(lambda + std::sqrt(lambda) * normal(words) + 0.5)));
  const double limit = std::exp(-lambda);
  unsigned int count = 0;
  for (double product = words.uniform_double(); product > limit; product *= words.uniform_double()) ++count;
  return count;
}

template <class Element, class Draw>
int generate(Generator* generator, Element* out, size_t count, Draw draw) {
  if (!generators().count(generator)) return kRandomNotInitialized;
  if (count == 0) return kRandomSuccess;
  const size_t bytes = count * sizeof(Element);
  if (!out || (!generator->on_host && !inside(reinterpret_cast<uintptr_t>(out), bytes))) return kRandomLaunchFailure;
  Words words(*generator);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<Element>(draw(words));
  Stream* stream = resolve_stream(generator->stream);
  if (generator->on_host || !stream) return kRandomSuccess;
  advance(*stream, record_transfer("memset", bytes, stream->id), false);  // modelled as what it writes
  export_transfer("memset", bytes);
  return kRandomSuccess;
}

int make_generator(Generator** generator, int type, bool on_host) {
  if (!generator) return kRandomNotInitialized;
  const bool pseudo = (type >= 100 && type < 200) || (type >= 400 && type < 500);
  if (!pseudo) {
    not_supported("a quasi-random generator");
    return kRandomTypeError;
  }
  *generator = new Generator;
  (*generator)->on_host = on_host;
  generators().insert(*generator);
  return kRandomSuccess;
}

template <class Change>
int change(Generator* generator, Change how) {
  if (!generators().count(generator)) return kRandomNotInitialized;
  how(*generator);
  return kRandomSuccess;
}

// cuRAND makes normal numbers in pairs.
bool odd_pair(size_t count) { return current_vendor() == Vendor::kCuda && count % 2 != 0; }

int RandCreateGenerator(Generator** generator, int type) { return make_generator(generator, type, false); }
int RandCreateGeneratorHost(Generator** generator, int type) { return make_generator(generator, type, true); }
int RandDestroyGenerator(Generator* generator) {
  if (!generators().erase(generator)) return kRandomNotInitialized;
  delete generator;
  return kRandomSuccess;
}
int RandSetPseudoRandomGeneratorSeed(Generator* generator, unsigned long long seed) {
  return change(generator, [&](Generator& g) { g.seed = seed, g.offset = 0; });
}
int RandSetGeneratorOffset(Generator* generator, unsigned long long offset) {
  return change(generator, [&](Generator& g) { g.offset = offset; });
}
int RandSetStream(Generator* generator, Stream* stream) {
  return change(generator, [&](Generator& g) { g.stream = stream; });
}
int RandGenerateSeeds(Generator* generator) {
  return change(generator, [](Generator&) {});
}
int RandGenerate(Generator* generator, unsigned int* out, size_t count) {
  return generate(generator, out, count, [](Words& words) { return words.next(); });
}
int RandGenerateUniform(Generator* generator, float* out, size_t count) {
  return generate(generator, out, count, [](Words& words) { return words.uniform(); });
}
int RandGenerateUniformDouble(Generator* generator, double* out, size_t count) {
  return generate(generator, out, count, [](Words& words) { return words.uniform_double(); });
}
template <class Real>
int generate_normal(Generator* generator, Real* out, size_t count, double mean, double deviation) {
  if (odd_pair(count)) return kRandomLengthNotMultiple;
  return generate(generator, out, count, [=](Words& words) { return mean + deviation * normal(words); });
}
template <class Real>
int generate_log_normal(Generator* generator, Real* out, size_t count, double mean, double deviation) {
  if (odd_pair(count)) return kRandomLengthNotMultiple;
  return generate(generator, out, count, [=](Words& words) { return std::exp(mean + deviation * normal(words)); });
}
int RandGenerateNormal(Generator* generator, float* out, size_t count, float mean, float deviation) {
  return generate_normal(generator, out, count, mean, deviation);
}
int RandGenerateNormalDouble(Generator* generator, double* out, size_t count, double mean, double deviation) {
  return generate_normal(generator, out, count, mean, deviation);
}
int RandGenerateLogNormal(Generator* generator, float* out, size_t count, float mean, float deviation) {
  return generate_log_normal(generator, out, count, mean, deviation);
}
int RandGenerateLogNormalDouble(Generator* generator, double* out, size_t count, double mean, double deviation) {
  return generate_log_normal(generator, out, count, mean, deviation);
}
int RandGeneratePoisson(Generator* generator, unsigned int* out, size_t count, double lambda) {
  if (lambda <= 0) return kRandomOutOfRange;
  return generate(generator, out, count, [=](Words& words) { return poisson(words, lambda); });
}
int RandGetVersion(int* version) {
  if (!version) return kRandomOutOfRange;
  *version = 10300;
  return kRandomSuccess;
}

using R_Generator_t = Generator*;
using R_RngType_t = int;

}  // namespace

#define SIMT_R(name) R_##name
#define SIMT_RANDOM_STREAM Stream*

extern "C" {
#define SIMT_RAND(name, parameters, arguments) \
  SIMT_EXPORT int hiprand##name parameters {   \
    const Call call(Vendor::kHip);             \
    return Rand##name arguments;               \
  }
#include "../include/simt/host_random.h"
#undef SIMT_RAND
#define SIMT_RAND(name, parameters, arguments) \
  SIMT_EXPORT int curand##name parameters {    \
    const Call call(Vendor::kCuda);            \
    return Rand##name arguments;               \
  }
#include "../include/simt/host_random.h"
#undef SIMT_RAND
}  // extern "C"

}  // namespace host
}  // namespace simt
