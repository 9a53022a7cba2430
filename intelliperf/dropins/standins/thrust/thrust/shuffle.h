// Random orders.
#pragma once
#include <thrust/detail/shuffles.h>
