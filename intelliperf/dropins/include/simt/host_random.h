// The host API of hipRAND and cuRAND: one list for both headers and the runtime. SIMT_RAND(name, parameters,
// arguments); SIMT_R(x) is hiprand##x or curand##x. No include guard: the includer defines the macros.
//
// Every pseudo-random generator type is Philox4x32-10 keyed by the seed: the distributions are the vendors',
// the sequences are not. Every quasi-random type is one additive recurrence (runtime/host_random.cpp): its points
// are spread evenly, they are not Sobol's, and it draws uniform numbers only.
// clang-format off
SIMT_RAND(CreateGenerator, (SIMT_R(Generator_t)* generator, SIMT_R(RngType_t) type), (generator, type))
SIMT_RAND(CreateGeneratorHost, (SIMT_R(Generator_t)* generator, SIMT_R(RngType_t) type), (generator, type))
SIMT_RAND(DestroyGenerator, (SIMT_R(Generator_t) generator), (generator))
SIMT_RAND(SetPseudoRandomGeneratorSeed, (SIMT_R(Generator_t) generator, unsigned long long seed), (generator, seed))
SIMT_RAND(SetQuasiRandomGeneratorDimensions, (SIMT_R(Generator_t) generator, unsigned int dimensions), (generator, dimensions))
SIMT_RAND(SetGeneratorOffset, (SIMT_R(Generator_t) generator, unsigned long long offset), (generator, offset))
SIMT_RAND(SetStream, (SIMT_R(Generator_t) generator, SIMT_RANDOM_STREAM stream), (generator, stream))
SIMT_RAND(GenerateSeeds, (SIMT_R(Generator_t) generator), (generator))
SIMT_RAND(Generate, (SIMT_R(Generator_t) generator, unsigned int* out, size_t count), (generator, out, count))
SIMT_RAND(GenerateUniform, (SIMT_R(Generator_t) generator, float* out, size_t count), (generator, out, count))
SIMT_RAND(GenerateUniformDouble, (SIMT_R(Generator_t) generator, double* out, size_t count), (generator, out, count))
SIMT_RAND(GenerateNormal, (SIMT_R(Generator_t) generator, float* out, size_t count, float mean, float deviation), (generator, out, count, mean, deviation))
SIMT_RAND(GenerateNormalDouble, (SIMT_R(Generator_t) generator, double* out, size_t count, double mean, double deviation), (generator, out, count, mean, deviation))
SIMT_RAND(GenerateLogNormal, (SIMT_R(Generator_t) generator, float* out, size_t count, float mean, float deviation), (generator, out, count, mean, deviation))
SIMT_RAND(GenerateLogNormalDouble, (SIMT_R(Generator_t) generator, double* out, size_t count, double mean, double deviation), (generator, out, count, mean, deviation))
SIMT_RAND(GeneratePoisson, (SIMT_R(Generator_t) generator, unsigned int* out, size_t count, double lambda), (generator, out, count, lambda))
SIMT_RAND(GetVersion, (int* version), (version))
