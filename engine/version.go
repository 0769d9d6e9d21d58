package engine

// Version is the release of memtide. The command, the page, the Python package and the files that they write report
// it. CITATION.cff and profiles/python/memtide/version.py repeat it, and a test of cmd/tidy compares them.
const Version = "1.0.0"
