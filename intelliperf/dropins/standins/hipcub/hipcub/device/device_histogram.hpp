// Part of hipcub.hpp in this implementation.
#pragma once
#include <hipcub/hipcub.hpp>
