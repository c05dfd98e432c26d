"""A language server that does as it is told, to try the editor of the tests on. Usage: fake_server.py

It answers each request with its environment, writes what `stderr` and `raw` ask for, and obeys shutdown and exit.
"""

import json
import os
import sys


def send(message):
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    raw(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def messages():
    while header := sys.stdin.buffer.readline():
        length = int(header.removeprefix(b"Content-Length: "))
        sys.stdin.buffer.readline()
        yield json.loads(sys.stdin.buffer.read(length))


for message in messages():
    method, params = message["method"], message.get("params")
    if method == "exit":
        sys.exit(params or 0)
    if method == "stderr":
        print(params, file=sys.stderr, flush=True)
    if method == "raw":
        raw(params.encode())
    if "id" in message:
        send({"id": message["id"], "result": {"env": dict(os.environ), "cwd": os.getcwd(), "params": params}})
