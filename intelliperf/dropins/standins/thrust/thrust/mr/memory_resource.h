// Part of the one implementation of thrust here.
#pragma once
#include <thrust/detail/vectors.h>
