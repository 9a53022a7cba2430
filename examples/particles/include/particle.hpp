#pragma once

#include <cstdint>

namespace sim {

struct Particle {
  float position[3];
  float velocity[3];
  float force[3];
  float mass;
  float charge;
  float radius;
  std::uint32_t id;
  std::uint32_t cell;
  std::uint32_t species;
  std::uint32_t flags;
};

}  // namespace sim
