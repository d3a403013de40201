"""Runs a command on a terminal of its own, and says in JSON what it printed and how it ended.

    terminal.py '{"args": [...], "cwd": "...", "env": {...}, "columns": 80, "keys": [["text to wait for", "keys to type"]], "seconds": 60}'
"""
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

given = json.loads(sys.argv[1])
child, terminal = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, given["columns"], 0, 0))
    os.chdir(given["cwd"])
    os.execvpe(given["args"][0], given["args"], {**os.environ, **given["env"]})
keys = given["keys"]
printed = b""
seen = 0
end = time.monotonic() + given["seconds"]
while time.monotonic() < end:
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        some = os.read(terminal, 65536)
    except OSError:  # What Linux says where the other end is closed.
        break
    if not some:
        break
    printed += some
    while keys and keys[0][0].encode() in printed[seen:]:
        wanted, typed = keys.pop(0)
        seen = printed.index(wanted.encode(), seen) + len(wanted.encode())
        os.write(terminal, typed.encode())
else:
    os.kill(child, signal.SIGKILL)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(json.dumps({"status": status, "printed": printed.decode(errors="replace")}))
