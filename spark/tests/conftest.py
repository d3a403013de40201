"""A standalone master and two workers on loopback, and a corpus with all that is awkward."""

import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLI = ROOT / "dist" / "cli" / "bin.js"


def worker_path():
    named = os.environ.get("SIMHASH_WORKER")
    built = [ROOT / "target" / kind / "simhash-native-worker" for kind in ("release", "debug")]
    return named or next((str(path) for path in built if path.exists()), None)


def missing():
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark is not installed"
    if not shutil.which("java"):
        return "java is not installed"
    if not worker_path():
        return "simhash-native-worker is not built: cargo build -p simhash-worker"
    if not shutil.which("node") or not CLI.exists():
        return "the command line is not built: npm run build:ts"
    return None


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture(scope="session")
def master(tmp_path_factory):
    """The address of a cluster of two workers of one core each."""
    if missing():
        pytest.skip(missing())
    import pyspark

    home = pathlib.Path(pyspark.__file__).parent
    scratch = tmp_path_factory.mktemp("cluster")
    port = free_port()
    own = {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m",
           "SPARK_LOCAL_DIRS": str(scratch), "PYSPARK_PYTHON": sys.executable}
    environment = {**os.environ, **own}
    started = []

    def start(name, *arguments):
        log = open(scratch / f"{len(started)}.log", "wb")
        started.append(subprocess.Popen([home / "bin" / "spark-class", f"org.apache.spark.deploy.{name}", *arguments],
                                        env=environment, stdout=log, stderr=subprocess.STDOUT))

    start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    address = f"spark://127.0.0.1:{port}"
    for _ in range(2):
        start("worker.Worker", "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "700m",
              "--work-dir", str(scratch), address)
    end = time.monotonic() + 90
    while time.monotonic() < end and b"".join((scratch / f"{n}.log").read_bytes() for n in range(3)).count(b"Successfully registered with master") < 2:
        time.sleep(0.5)
    os.environ.update(own)
    yield address
    for one in started:
        one.terminate()
        one.wait()


SETTINGS = {"spark.driver.memory": "700m", "spark.executor.memory": "480m", "spark.executor.cores": "1", "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "4", "spark.speculation": "true",
            "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false"}


@pytest.fixture(scope="session")
def session(master):
    """A session on that cluster, in which runs follow each other: most of what a small one takes is a Java that has just started."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-memory {SETTINGS['spark.driver.memory']} pyspark-shell"
    builder = SparkSession.builder.appName("tests").master(master)
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    yield spark
    spark.stop()


def corpus(count, seed):
    """Lines with chains, crowds, copies, empty texts and awkward ones."""
    import json

    rng = random.Random(seed)
    sign = lambda: chr(0x4E00 + rng.randrange(3000))

    def edited(text, edits):
        signs = list(text)
        for _ in range(edits):
            signs[rng.randrange(len(signs))] = sign()
        return "".join(signs)

    texts = []
    while len(texts) < count // 2:
        text = "".join(sign() for _ in range(rng.randrange(40, 90)))
        for _ in range(rng.randrange(1, 8)):
            texts.append(text)
            text = edited(text, rng.randrange(1, 5))
    stem = "".join(sign() for _ in range(120))
    texts += [edited(stem, rng.randrange(1, 4)) for _ in range(330)]
    # Pages that have sentences in common.
    sentences = ["".join(sign() for _ in range(rng.randrange(12, 30))) + "。" for _ in range(count // 30)]
    texts += ["".join(rng.sample(sentences, rng.randrange(2, 5))) for _ in range(count // 10)]
    while len(texts) < count:
        texts.append(rng.choice(texts))
    rng.shuffle(texts)
    lines = []
    for number, text in enumerate(texts):
        one = {"id": rng.choice([number, f"d{number}", number + 0.5]), "text": text}
        if rng.random() < 0.8:
            one["date"] = rng.choice(["2024-05-01", "2025-01-09", "1", 20240501, -2.5, 9007199254740993])
        lines.append(json.dumps(one, ensure_ascii=rng.random() < 0.5))
    awkward = ['{"id":"e","text":""}', '{"id":"q\\"\\\\","text":"\\u0000 短"}', '  {"id":1.50,"text":"短"}\r', "", '{"id":"s","text":"half \\ud800"}']
    for line in awkward:
        lines.insert(rng.randrange(len(lines)), line)
    return "\n".join(lines)
