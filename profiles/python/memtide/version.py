"""The release of memtide."""

__version__ = "1.0.0"
