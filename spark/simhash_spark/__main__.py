"""simhash-spark JOB: what `simhash-native spark` starts. JOB is JSON of the arguments of simhash_spark.run."""

import json
import sys

from .run import run


def main():
    try:
        if len(sys.argv) != 2:
            raise ValueError("one argument is needed, a job in JSON: `simhash-native spark dedup IN -o OUT --emit-command` prints one")
        job = json.loads(sys.argv[1])
        print(json.dumps(run(job.pop("inputs"), job.pop("output"), **job)))
    except (ValueError, OSError, KeyError, TypeError) as error:
        sys.exit(f"simhash-spark: {error}")


if __name__ == "__main__":
    main()
