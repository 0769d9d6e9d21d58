// Package torchtest holds the tests of what touches PyTorch: the collector
// (profiles/collect.py), and the Python files that engine/export writes. Those
// that need PyTorch are Python programs, test_collect.py and test_export.py, which
// `make test-torch` runs; those that do not are Go tests of this package.
package torchtest
