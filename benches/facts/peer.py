"""Measures one system at one size in this process, for `run.py`: peer.py MODULE FOLDER OUT OPTIONS.

Writes the rows to the file OUT, as JSON; OPTIONS is a JSON object. A process for each, because the systems need
different packages, and because one that grew must not slow the next.
"""
import importlib
import json
import sys

from measure import measure


def main():
    module, folder, out, options = sys.argv[1:]
    options = json.loads(options)
    with importlib.import_module(module).System(folder, options) as system:
        rows = measure(system, options["size"], options["scope_size"], options["batch"], options["calls"])
    with open(out, "w", encoding="utf-8") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
