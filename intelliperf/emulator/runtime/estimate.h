// Counts of a whole launch: those of analysed requests, and an estimate for the others from a sample of them.
//
// How many requests and lanes there are is known of every site. What else a request counts (sectors, bank cycles, …)
// is regressed on its lanes: ŷ = N (ȳ + b (L/N - l̄)), N requests with L lanes in all, n of them drawn. The half-width
// is 1.96 N sqrt((1 - n/N) (s²/n + (D/m)²)), s² being the variance about the regression. The second term stands for
// what no sample shows, rare requests of another kind: as if the next one after the m that were looked at were the
// worst possible, D away from the mean (for equal requests near the "rule of three").
#pragma once
#include <vector>

#include "analysis.h"
#include "shape_sample.h"

namespace simt {

// By site. `scale`: how much more all blocks do than the analysed ones, where the others were not counted; else 1.
std::vector<SiteRecord> whole_launch(const Module& module, const Analysis& analysis, const ShapeSample& sample,
                                     double scale);

}  // namespace simt
