#include <hip/hip_runtime.h>

#include <cmath>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

#include "integrator.hpp"

namespace {

std::vector<sim::Particle> plasma(std::size_t count) {
  std::vector<sim::Particle> particles(count);
  for (std::size_t i = 0; i < count; ++i) {
    sim::Particle& p = particles[i];
    p = sim::Particle();
    for (int axis = 0; axis < 3; ++axis) {
      p.position[axis] = 0.001f * float((i * (axis + 3)) % 1000);
      p.velocity[axis] = 0.01f * float(i % (axis + 5));
    }
    p.mass = 1.0f + float(i % 4);
    p.charge = i % 2 ? 1.0f : -1.0f;
    p.id = std::uint32_t(i);
    p.species = std::uint32_t(i % 2);
  }
  return particles;
}

void reference(std::vector<sim::Particle>& particles, const float (&field)[3], float dt, int steps) {
  for (int step = 0; step < steps; ++step) {
    for (sim::Particle& p : particles) {
      for (int axis = 0; axis < 3; ++axis) {
        p.velocity[axis] += p.charge * field[axis] / p.mass * dt;
        p.position[axis] += p.velocity[axis] * dt;
      }
    }
  }
}

bool close(float a, float b) { return std::fabs(a - b) <= 1e-4f * (1.0f + std::fabs(b)); }

}  // namespace

int main(int argc, char** argv) try {
  const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 300000;
  const int steps = argc > 2 ? std::atoi(argv[2]) : 3;
  const float field[3] = {0.5f, -0.25f, 1.0f};
  const float dt = 0.01f;

  std::vector<sim::Particle> particles = plasma(count);
  const std::size_t bytes = count * sizeof(sim::Particle);
  sim::Particle* device = nullptr;
  if (hipMalloc(&device, bytes) != hipSuccess) throw std::bad_alloc();
  if (hipMemcpy(device, particles.data(), bytes, hipMemcpyHostToDevice) != hipSuccess) return 1;
  sim::integrate(device, count, field, dt, steps);

  std::vector<sim::Particle> moved(count);
  if (hipMemcpy(moved.data(), device, bytes, hipMemcpyDeviceToHost) != hipSuccess) return 1;
  (void)hipFree(device);

  reference(particles, field, dt, steps);
  for (std::size_t i = 0; i < count; ++i) {
    bool same = moved[i].id == particles[i].id;
    for (int axis = 0; axis < 3; ++axis) {
      same = same && close(moved[i].position[axis], particles[i].position[axis]) &&
             close(moved[i].velocity[axis], particles[i].velocity[axis]);
    }
    if (!same) {
      std::cout << "FAIL: particle " << i << " went astray\n";
      return 1;
    }
  }
  std::cout << count << " particles, " << steps << " steps: PASS\n";
  return 0;
} catch (const std::exception& error) {
  std::cerr << "error: " << error.what() << '\n';
  return 1;
}
