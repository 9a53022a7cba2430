#!/bin/sh
set -e
cd "$(dirname "$0")"
nvcc -O3 -std=c++14 -o histogram histogram.cu
