"""Measures search on the retrieval data, part by part, and checks the goals.

    run.py [--shared FOLDER] [--data FILE ...] [--parts NAME,...] [--bin FOLDER] [--models FILE] [--keep FOLDER]
           [eval options]

It builds `amemd`, `amemctl` and `amem-benches` unless --bin names their folder, imports each conversation into a brain of a
private daemon with `amemctl import`, and sends the questions with `amem-benches ask`. The parts:

    ranks      R@10 of the daemon's search, of words alone and of vectors alone      (`ranks.py`)
    contexts   evidence inside contexts of 500, 1,000, 2,000 and 4,000 tokens        (`contexts.py`)
    languages  R@5 of sentences in six languages, each sentence an event             (`languages.py`)
    typos      R@10 that a typo in the rarest word of each question costs             (`typos.py`)
    abstention contexts of questions about something else, and evidence lost by that (`abstention.py`)
    doors      what agents are shown: by the tool recall, by the hook of a prompt   (`doors.py`)

Every row has its 95 % interval: a bootstrap over questions. The scorer, `retrieval_eval.py`, and the data are not part of the
project: they are in the folder `data` of FOLDER; without --shared, AMEM_SHARED names it. With eval options, the scorer also
prints its own tables.

Exit codes: 0 if every goal is met, or there is no data ("SKIPPED: …"); 1 if one is missed, or something fails. Goals are
those of the default data; for other data only the numbers are printed.
"""
import argparse
import json
import os
import pathlib
import sys
import tempfile

import abstention
import contexts
import doors
import languages
import ranks
import typos
from bench import Bench, build

DATA = ["locomo-dev.json", "beam-dev.json"]
# A part has `measure(bench, data, options)`: it prints nothing, and returns rows (`rows.Row`).
PARTS = {
    "ranks": ranks.measure,
    "contexts": contexts.measure,
    "languages": languages.measure,
    "typos": typos.measure,
    "abstention": abstention.measure,
    "doors": doors.measure,
}


def arguments():
    ours = pathlib.Path(__file__).resolve().parents[2]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("AMEM_SHARED", ours.parent / "shared"))
    parser.add_argument("--data", nargs="+", help="files of conversations in the folder data", default=DATA)
    parser.add_argument("--parts", help=f"of {', '.join(PARTS)}; all without it", default=",".join(PARTS))
    parser.add_argument("--models", type=pathlib.Path, help="a file of models: its embedder makes the vectors")
    parser.add_argument("--bin", type=pathlib.Path, help="where the programs are; otherwise they are built")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the run files")
    wanted, options = parser.parse_known_args()
    wanted.parts = wanted.parts.split(",")
    unknown = set(wanted.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    return wanted, options


def main():
    wanted, options = arguments()
    folder = wanted.shared / "data"
    files = [folder / name for name in wanted.data]
    scorer = folder / "retrieval_eval.py"
    for file in [*files, scorer]:
        if not file.is_file():
            print(f"SKIPPED: there is no {file}; AMEM_SHARED or --shared names its folder")
            return
    programs = wanted.bin or build()
    missed = 0
    with tempfile.TemporaryDirectory(prefix="amem-retrieval-") as temporary:
        with Bench(programs, pathlib.Path(temporary), scorer, wanted.models) as bench:
            data = [(file, json.loads(file.read_text(encoding="utf-8"))) for file in files]
            for name in wanted.parts:
                print(f"\n{name:<34}{'questions':>10}{'found %':>9}{'95 of 100':>14}{'goal':>8}", flush=True)
                for row in PARTS[name](bench, data, options):
                    missed += row.is_missed()
                    print(row, flush=True)
            if wanted.keep:
                bench.keep(wanted.keep)
    if missed:
        sys.exit(f"{missed} goals are missed")


if __name__ == "__main__":
    main()
