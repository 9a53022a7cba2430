#include <hip/hip_runtime.h>

#include <stdexcept>

#include "integrator.hpp"

namespace sim {
namespace {

struct Field {
  float e[3];
};

__device__ inline float accelerate(float velocity, float force, float mass, float dt) {
  return velocity + force / mass * dt;
}

// Each thread takes a run of neighbouring particles, as the threads of the host version do.
__global__ void advance(Particle* particles, std::size_t count, std::size_t run, Field field, float dt) {
  const std::size_t thread = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t first = thread * run;
  const std::size_t last = first + run < count ? first + run : count;
  for (std::size_t i = first; i < last; ++i) {
    for (int axis = 0; axis < 3; ++axis) {
      float force = particles[i].charge * field.e[axis];
      particles[i].velocity[axis] = accelerate(particles[i].velocity[axis], force, particles[i].mass, dt);
      particles[i].position[axis] += particles[i].velocity[axis] * dt;
    }
  }
}

void require(hipError_t status) {
  if (status != hipSuccess) throw std::runtime_error(hipGetErrorString(status));
}

}  // namespace

void integrate(Particle* particles, std::size_t count, const float (&field)[3], float dt, int steps) {
  const unsigned threads = 128;
  const std::size_t run = 16;
  const unsigned blocks = static_cast<unsigned>((count + threads * run - 1) / (threads * run));
  const Field uniform{{field[0], field[1], field[2]}};
  for (int step = 0; step < steps; ++step) {
    advance<<<blocks, threads>>>(particles, count, run, uniform, dt);
    require(hipGetLastError());
  }
  require(hipDeviceSynchronize());
}

}  // namespace sim
