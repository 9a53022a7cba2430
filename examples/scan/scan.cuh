#ifndef SCAN_CUH
#define SCAN_CUH

/* Exclusive prefix sums of n ints, n at most SCAN_MAX_ELEMENTS. Device pointers. */
#define SCAN_BLOCK 256
#define SCAN_CHUNK (2 * SCAN_BLOCK)
#define SCAN_MAX_ELEMENTS (SCAN_CHUNK * SCAN_CHUNK * 16)

int exclusive_scan(const int *in, int *out, int n);

#endif
