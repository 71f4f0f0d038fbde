"""Reads a brain's file without the daemon: live, or a copy.

    from amemd.reader import Reader

    reader = Reader("work.amem")
    for event in reader.events():
        print(event.id, event.type, event.text)
    reader.refresh()   # reads newer commits

A file that a running daemon owns is *live*: `refresh` reads newer commits, and follows checkpoints. Any other file,
such as a copy made by `cp` at any moment, is read up to its first bad frame. Needs the standard library alone.

Promises:

- The reader shows exactly the commits up to `lsn`.
- A damaged file raises DamagedFile with the position.
- A live file whose successor is not at its path raises Superseded, or MustDrop if something was erased.
- After MustDrop and after `close` nothing of a file is mapped.
- Memory stays in proportion to the file's bytes, except for texts, at most 1 MiB each.

Not promised: truncating a mapped file ends its readers (SIGBUS); `copy=True` reads the file into memory instead.
"""

from ._reader import Reader

__all__ = ["Reader"]
