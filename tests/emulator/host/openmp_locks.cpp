#include <omp.h>

int locked_elsewhere(omp_lock_t* lock, int n) {
  int count = 0;
#pragma omp parallel for num_threads(4)
  for (int i = 0; i < n; ++i) {
    omp_set_lock(lock);
    ++count;
    omp_unset_lock(lock);
  }
  return count;
}
