"""Near-duplicates on Spark: a driver of simhash-native-worker, see docs/scale.md."""

from .chain import Result, dedup

__all__ = ["Result", "dedup"]
