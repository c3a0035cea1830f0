"""What several benchmarks share; nothing here is a benchmark itself."""
