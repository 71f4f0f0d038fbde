"""A reader that follows a file, and says what it reads.

    python follow.py PATH

Says a line of JSON at its start, and one after each line that it is given: LSN, whether the file is live, what is torn,
and of every event its text and attributes; or, where a refresh failed, how.
"""

import json
import sys

from amemd.reader import Reader


def told(reader):
    try:
        reader.refresh()
    except Exception as why:
        return {"failed": f"{type(why).__name__}: {why}"}
    events = [[event.text, event.attributes] for event in reader.events()]
    return {"lsn": reader.lsn, "live": reader.is_live, "torn": reader.torn, "events": events}


with Reader(sys.argv[1]) as following:
    print(json.dumps(told(following)), flush=True)
    for _ in sys.stdin:
        print(json.dumps(told(following)), flush=True)
