"""Serves one model of a GGUF file with the interface of OpenAI, on one thread: serve.py FILE PORT

Its answers are the same each time: greedy, and nothing is kept from one question for the next.
"""
import sys
import time

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.hostnames = ["127.0.0.1"]
params.port = int(sys.argv[2])
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_ctx = 4096
params.n_parallel = 1
params.use_jinja = True
params.cache_prompt = False
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
while True:
    time.sleep(3600)
