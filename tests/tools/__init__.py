"""What a maintainer runs by hand: benchmarks, mutants, strange machines."""
