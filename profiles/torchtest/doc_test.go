// Package torchtest holds the tests of what touches PyTorch: the collector (profiles/collect.py)
// and the runtime of plans (profiles/memtide_torch.py, which is generated from
// profiles/python/memtide). The tests that need PyTorch are the Python programs test_*.py, which
// `make test-torch` runs; the others are Go tests of this package.
package torchtest
