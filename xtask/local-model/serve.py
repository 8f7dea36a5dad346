"""Serves one small model by llama.cpp's own HTTP server: `serve.py MODEL TEMPLATE NAME CONTEXT THREADS BATCH`.

An empty TEMPLATE stands for the model's own. Prints the address once it listens, and ends when its standard input does, so that it never outlives who started it.
"""

import os
import sys

import xllamacpp


def main() -> None:
    model, template, name = sys.argv[1:4]
    context, threads, batch = map(int, sys.argv[4:])
    params = xllamacpp.CommonParams()
    params.model.path = model
    if template:
        with open(template, encoding="utf-8") as text:
            params.chat_template = text.read()
    params.use_jinja = True
    params.model_alias = {name}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = context
    # One request at a time: a request that was cancelled but goes on would be in the way of the next.
    params.n_parallel = 1
    # A cancel is only felt between two of these pieces.
    params.n_batch = batch
    params.n_ubatch = batch
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.endpoint_slots = True
    params.endpoint_metrics = True
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # The server's threads may be at work; nothing of theirs is worth waiting for.
    os._exit(0)


main()
