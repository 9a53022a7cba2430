// The same markers under their newer path.
#pragma once
#include <roctracer/roctx.h>
