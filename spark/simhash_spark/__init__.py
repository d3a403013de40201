"""Near-duplicates on Spark: a driver of simhash-native-worker, see docs/scale.md."""

from .chain import Chain, dedup
from .run import run
