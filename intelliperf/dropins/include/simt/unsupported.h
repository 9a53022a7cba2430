// Declaring one is fine (sources keep them for old toolkits); nothing takes one.
#pragma once
#pragma GCC system_header  // no warnings from here in a program's build

template <class _T, int dimensions = 1>
struct surface {};
