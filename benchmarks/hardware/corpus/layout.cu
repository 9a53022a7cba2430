// A step of particles whose fields lie side by side, four by four, or apart.
#include "corpus.h"
struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};
__global__ void records(Particle* p, int n) {
  int i = INDEX;
  if (i >= n) return;
  p[i].x += 0.5f * p[i].vx;
  p[i].y += 0.5f * p[i].vy;
  p[i].z += 0.5f * p[i].vz;
}
__global__ void records_one_field(Particle* p, int n) {
  int i = INDEX;
  if (i < n) p[i].x += 0.5f;
}
__global__ void by_fours(float4* p, int n) {
  int i = INDEX;
  if (i >= n) return;
  float4 at = p[2 * i], v = p[2 * i + 1];
  p[2 * i] = make_float4(at.x + 0.5f * v.x, at.y + 0.5f * v.y, at.z + 0.5f * v.z, at.w);
}
__global__ void apart(float* p, int n) {
  int i = INDEX;
  if (i >= n) return;
  p[i] += 0.5f * p[4 * n + i];
  p[n + i] += 0.5f * p[5 * n + i];
  p[2 * n + i] += 0.5f * p[6 * n + i];
}
__global__ void apart_one_field(float* p, int n) {
  int i = INDEX;
  if (i < n) p[i] += 0.5f;
}
int main(int argc, char** argv) {
  Corpus c(argc, argv);
  const int n = c.argument(0, 1 << 18);
  // All fields are zero before each launch, so that positions stay zero unless only x moves.
  float* p = c.checked<float>(size_t(n) * 8, [=](const std::vector<float>& found) {
    double sum = 0;
    for (float value : found) sum += value;
    return sum == 0 || sum == 0.5 * n ? "" : std::to_string(sum);
  });
  const int blocks = n / 256;
  c.variant("records", [&] { records<<<blocks, 256>>>((Particle*)p, n); });
  c.variant("by_fours", [&] { by_fours<<<blocks, 256>>>((float4*)p, n); });
  c.variant("apart", [&] { apart<<<blocks, 256>>>(p, n); });
  c.variant("records_one_field", [&] { records_one_field<<<blocks, 256>>>((Particle*)p, n); });
  c.variant("apart_one_field", [&] { apart_one_field<<<blocks, 256>>>(p, n); });
  return c.end();
}
