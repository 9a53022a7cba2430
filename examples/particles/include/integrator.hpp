#pragma once

#include <cstddef>

#include "particle.hpp"

namespace sim {

/// Moves all particles by `steps` leapfrog steps of `dt` in the uniform field `field`.
/// `particles` is device memory.
void integrate(Particle* particles, std::size_t count, const float (&field)[3], float dt, int steps);

}  // namespace sim
