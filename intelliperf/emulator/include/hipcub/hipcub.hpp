// hipCUB: the same classes as CUB under its namespace.
#pragma once
#include <cub/cub.cuh>
namespace hipcub {
using namespace cub;
}
#define HIPCUB_VERSION 300200
