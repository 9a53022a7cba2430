// Part of thrust::async in this implementation.
#pragma once
#include <thrust/detail/async.h>
#include <thrust/detail/vectors.h>
