// hipRAND's and cuRAND's host API: Philox4x32-10 (Salmon et al., SC 2011), computed here, written to device memory.
#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "export.h"
#include "host_api.h"

#define SIMT_EXPORT __attribute__((visibility("default")))

namespace simt {

struct Generator {
  bool on_host = false;
  unsigned int dimensions = 0;  // of a quasi-random generator; a pseudo-random one has none
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

constexpr unsigned int kMostDimensions = 20000;

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

// The generator's stream of words; each call of Generate… continues where the last one ended.
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
  if (lambda > kLargestInvertedLambda)
    return static_cast<unsigned int>(std::max(0.0, std::floor(lambda + std::sqrt(lambda) * normal(words) + 0.5)));
  const double limit = std::exp(-lambda);
  unsigned int count = 0;
  for (double product = words.uniform_double(); product > limit; product *= words.uniform_double()) ++count;
  return count;
}

// Evenly spread points for any number of dimensions: the additive recurrence x[i] = i * a mod 1 with the powers of 1/g,
// g the root of g^(d+1) = g + 1 (the golden ratio in one dimension), in fractions of 2^64.
class QuasiPoints {
 public:
  explicit QuasiPoints(unsigned int dimensions) {
    long double root = 1.5L;
    for (int i = 0; i < 64; ++i) root = std::pow(1 + root, 1.0L / (dimensions + 1));
    long double step = 1;
    for (unsigned int d = 0; d < dimensions; ++d) {
      step /= root;
      steps_.push_back(static_cast<uint64_t>(std::ldexp(step, 64)));
    }
  }
  // (0, 1]
  double at(uint64_t point, size_t dimension) const {
    const uint64_t x = (uint64_t{1} << 63) + steps_[dimension] * (point + 1);
    return (static_cast<double>(x >> 12) + 1) * 0x1p-52;
  }

 private:
  std::vector<uint64_t> steps_;
};

bool writable(const Generator& generator, const void* out, size_t bytes) {
  return out && (generator.on_host || inside(reinterpret_cast<uintptr_t>(out), bytes));
}

int written(const Generator& generator, size_t bytes) {
  Stream* stream = resolve_stream(generator.stream);
  if (generator.on_host || !stream) return kRandomSuccess;
  advance(*stream, record_transfer("memset", bytes, stream->id).time_ns, false);  // modelled as what it writes
  export_transfer("memset", bytes);
  return kRandomSuccess;
}

template <class Element, class Draw>
int generate(Generator* generator, Element* out, size_t count, Draw draw) {
  if (!generators().count(generator)) return kRandomNotInitialized;
  if (count == 0) return kRandomSuccess;
  const size_t bytes = count * sizeof(Element);
  if (!writable(*generator, out, bytes)) return kRandomLaunchFailure;
  if (generator->dimensions) {
    not_supported("other than uniform numbers from a quasi-random generator");
    return kRandomTypeError;
  }
  Words words(*generator);
  for (size_t i = 0; i < count; ++i) out[i] = static_cast<Element>(draw(words));
  return written(*generator, bytes);
}

template <class Real>
int generate_quasi(Generator* generator, Real* out, size_t count) {
  const size_t points = count / generator->dimensions, bytes = count * sizeof(Real);
  if (points * generator->dimensions != count) return kRandomLengthNotMultiple;
  if (!writable(*generator, out, bytes)) return kRandomLaunchFailure;
  const QuasiPoints quasi(generator->dimensions);
  for (size_t d = 0; d < generator->dimensions; ++d)  // one dimension after the other
    for (size_t i = 0; i < points; ++i) out[d * points + i] = static_cast<Real>(quasi.at(generator->offset + i, d));
  generator->offset += points;
  return written(*generator, bytes);
}

template <class Real, class Draw>
int generate_uniform(Generator* generator, Real* out, size_t count, Draw draw) {
  const bool quasi = generators().count(generator) && generator->dimensions && count != 0;
  return quasi ? generate_quasi(generator, out, count) : generate(generator, out, count, draw);
}

int make_generator(Generator** generator, int type, bool on_host) {
  if (!generator) return kRandomNotInitialized;
  const bool pseudo = (type >= 100 && type < 200) || (type >= 400 && type < 500);
  const bool quasi = (type >= 200 && type < 300) || (type >= 500 && type < 600);
  if (!pseudo && !quasi) return kRandomTypeError;
  *generator = new Generator;
  (*generator)->on_host = on_host;
  (*generator)->dimensions = quasi ? 1 : 0;
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
int RandSetQuasiRandomGeneratorDimensions(Generator* generator, unsigned int dimensions) {
  if (!generators().count(generator)) return kRandomNotInitialized;
  if (generator->dimensions == 0) return kRandomTypeError;
  if (dimensions == 0 || dimensions > kMostDimensions) return kRandomOutOfRange;
  return change(generator, [&](Generator& g) { g.dimensions = dimensions, g.offset = 0; });
}
int RandSetGeneratorOffset(Generator* generator, unsigned long long offset) {
  return change(generator, [&](Generator& g) { g.offset = offset; });
}
// Which numbers of the sequence stand where, which none of our orders depends on.
int RandSetGeneratorOrdering(Generator* generator, int order) {
  if (!generators().count(generator)) return kRandomNotInitialized;
  const bool known = generator->dimensions ? order == 201 : order >= 100 && order <= 104;
  return known ? kRandomSuccess : kRandomOutOfRange;
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
  return generate_uniform(generator, out, count, [](Words& words) { return words.uniform(); });
}
int RandGenerateUniformDouble(Generator* generator, double* out, size_t count) {
  return generate_uniform(generator, out, count, [](Words& words) { return words.uniform_double(); });
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
#include "simt/host_random.h"
#undef SIMT_RAND
#define SIMT_RAND(name, parameters, arguments) \
  SIMT_EXPORT int curand##name parameters {    \
    const Call call(Vendor::kCuda);            \
    return Rand##name arguments;               \
  }
#include "simt/host_random.h"
#undef SIMT_RAND
SIMT_EXPORT int curandSetGeneratorOrdering(Generator* generator, int order) {
  const Call call(Vendor::kCuda);
  return RandSetGeneratorOrdering(generator, order);
}
}  // extern "C"

}  // namespace host
}  // namespace simt
