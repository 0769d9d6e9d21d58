package engine

// Version is the release of memtide: the command, the page, the Python package and what is
// written by them say it. CITATION.cff and profiles/python/memtide/version.py repeat it, and
// a test of cmd/tidy compares them.
const Version = "1.0.0"
