"""Reading a brain's file without the daemon: live, or a copy.

    from amemd.reader import Reader

    reader = Reader("work.amem")
    for event in reader.events():
        print(event.id, event.type, event.text)
    reader.refresh()   # what was committed since

A file that a running daemon owns is *live*: `refresh` takes in what was committed since, and follows checkpoints. Any
other file, a copy made by `cp` at any moment, is read up to its first bad frame. Needs the standard library alone.

Promises: what is shown is exactly the commits up to `lsn`. A file that is not what it must be raises DamagedFile with
its place; a live file that was replaced by one that is not to be found raises Superseded, or MustDrop if something was
erased; after MustDrop and after `close` nothing of a file is mapped; what is made of a file in memory stays in
proportion to its bytes, but for texts, of which one is at most 1 MiB. Not promised: whoever truncates the file ends its
readers (SIGBUS); `copy=True` reads it into memory instead.
"""

from ._reader import Reader

__all__ = ["Reader"]
