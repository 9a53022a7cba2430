// Part of rocprim.hpp in this implementation.
#pragma once
#include <rocprim/rocprim.hpp>
