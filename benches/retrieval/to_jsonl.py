"""Turns one conversation of the retrieval data into lines for `amemctl import --format conversation`.

    to_jsonl.py DATA.json CONVERSATION > turns.jsonl
"""
import json
import sys


def turns(conversation, name):
    """One line for each turn; the session's key carries the conversation's name."""
    for turn in conversation["turns"]:
        yield json.dumps({
            "session": f"{name}/{turn['session']}",
            "speaker": turn["speaker"],
            "text": turn["text"],
            "event_time": turn["time"] + "Z",
            "id": turn["id"],
        }, ensure_ascii=False)


if __name__ == "__main__":
    data, name = sys.argv[1:]
    with open(data, encoding="utf-8") as file:
        for line in turns(json.load(file)[name], name):
            print(line)
