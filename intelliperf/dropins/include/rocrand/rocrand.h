// rocRAND's host API over hipRAND's; see simt/host_random.h for what its numbers are.
#ifndef ROCRAND_HOST_API_H
#define ROCRAND_HOST_API_H

#include <hiprand/hiprand.h>

typedef hiprandGenerator_t rocrand_generator;
typedef enum rocrand_status {
  ROCRAND_STATUS_SUCCESS = 0,
  ROCRAND_STATUS_VERSION_MISMATCH = 100,
  ROCRAND_STATUS_NOT_CREATED = 101,
  ROCRAND_STATUS_ALLOCATION_FAILED = 102,
  ROCRAND_STATUS_TYPE_ERROR = 103,
  ROCRAND_STATUS_OUT_OF_RANGE = 104,
  ROCRAND_STATUS_LENGTH_NOT_MULTIPLE = 105,
  ROCRAND_STATUS_DOUBLE_PRECISION_REQUIRED = 106,
  ROCRAND_STATUS_LAUNCH_FAILURE = 107,
  ROCRAND_STATUS_INTERNAL_ERROR = 108
} rocrand_status;
typedef enum rocrand_rng_type {
  ROCRAND_RNG_PSEUDO_DEFAULT = 400,
  ROCRAND_RNG_PSEUDO_XORWOW = 401,
  ROCRAND_RNG_PSEUDO_MRG32K3A = 402,
  ROCRAND_RNG_PSEUDO_MTGP32 = 403,
  ROCRAND_RNG_PSEUDO_PHILOX4_32_10 = 404,
  ROCRAND_RNG_PSEUDO_MRG31K3P = 405,
  ROCRAND_RNG_PSEUDO_LFSR113 = 406,
  ROCRAND_RNG_PSEUDO_MT19937 = 407,
  ROCRAND_RNG_PSEUDO_THREEFRY2_32_20 = 408,
  ROCRAND_RNG_PSEUDO_THREEFRY2_64_20 = 409,
  ROCRAND_RNG_PSEUDO_THREEFRY4_32_20 = 410,
  ROCRAND_RNG_PSEUDO_THREEFRY4_64_20 = 411,
  ROCRAND_RNG_QUASI_DEFAULT = 500,
  ROCRAND_RNG_QUASI_SOBOL32 = 501,
  ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL32 = 502,
  ROCRAND_RNG_QUASI_SOBOL64 = 504,
  ROCRAND_RNG_QUASI_SCRAMBLED_SOBOL64 = 505
} rocrand_rng_type;

static inline rocrand_status simt_rocrand_status(hiprandStatus_t status) {
  return status == HIPRAND_STATUS_LAUNCH_FAILURE ? ROCRAND_STATUS_LAUNCH_FAILURE
         : (int)status > 200                     ? ROCRAND_STATUS_INTERNAL_ERROR
                                                 : (rocrand_status)status;
}
static inline rocrand_status rocrand_create_generator(rocrand_generator* generator, rocrand_rng_type type) {
  return simt_rocrand_status(hiprandCreateGenerator(generator, (hiprandRngType_t)type));
}
static inline rocrand_status rocrand_create_generator_host(rocrand_generator* generator, rocrand_rng_type type) {
  return simt_rocrand_status(hiprandCreateGeneratorHost(generator, (hiprandRngType_t)type));
}
static inline rocrand_status rocrand_create_generator_host_blocking(rocrand_generator* generator, rocrand_rng_type type) {
  return rocrand_create_generator_host(generator, type);
}
static inline rocrand_status rocrand_destroy_generator(rocrand_generator generator) {
  return simt_rocrand_status(hiprandDestroyGenerator(generator));
}
static inline rocrand_status rocrand_initialize_generator(rocrand_generator generator) {
  return simt_rocrand_status(hiprandGenerateSeeds(generator));
}
static inline rocrand_status rocrand_get_version(int* version) { return simt_rocrand_status(hiprandGetVersion(version)); }
#define SIMT_ROCRAND(name, hip_name, parameters, arguments) \
  static inline rocrand_status rocrand_##name parameters { return simt_rocrand_status(hiprand##hip_name arguments); }
SIMT_ROCRAND(set_seed, SetPseudoRandomGeneratorSeed, (rocrand_generator generator, unsigned long long seed), (generator, seed))
SIMT_ROCRAND(set_quasi_random_generator_dimensions, SetQuasiRandomGeneratorDimensions, (rocrand_generator generator, unsigned int dimensions), (generator, dimensions))
SIMT_ROCRAND(set_offset, SetGeneratorOffset, (rocrand_generator generator, unsigned long long offset), (generator, offset))
SIMT_ROCRAND(set_stream, SetStream, (rocrand_generator generator, hipStream_t stream), (generator, stream))
SIMT_ROCRAND(generate, Generate, (rocrand_generator generator, unsigned int* out, size_t count), (generator, out, count))
SIMT_ROCRAND(generate_uniform, GenerateUniform, (rocrand_generator generator, float* out, size_t count), (generator, out, count))
SIMT_ROCRAND(generate_uniform_double, GenerateUniformDouble, (rocrand_generator generator, double* out, size_t count), (generator, out, count))
SIMT_ROCRAND(generate_normal, GenerateNormal, (rocrand_generator generator, float* out, size_t count, float mean, float deviation), (generator, out, count, mean, deviation))
SIMT_ROCRAND(generate_normal_double, GenerateNormalDouble, (rocrand_generator generator, double* out, size_t count, double mean, double deviation), (generator, out, count, mean, deviation))
SIMT_ROCRAND(generate_log_normal, GenerateLogNormal, (rocrand_generator generator, float* out, size_t count, float mean, float deviation), (generator, out, count, mean, deviation))
SIMT_ROCRAND(generate_log_normal_double, GenerateLogNormalDouble, (rocrand_generator generator, double* out, size_t count, double mean, double deviation), (generator, out, count, mean, deviation))
SIMT_ROCRAND(generate_poisson, GeneratePoisson, (rocrand_generator generator, unsigned int* out, size_t count, double lambda), (generator, out, count, lambda))
#undef SIMT_ROCRAND

#endif
