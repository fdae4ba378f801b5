#!/usr/bin/env python3
"""Prints the failures in outputs of `swift test`, each with its lines and the command that repeats it.

Of an output with no failure and no success, such as that of a crash, it prints the last lines.

usage: explain.py FILE ...
"""

import re
import sys

# A test's failure.
ISSUE = re.compile(r"^✘ (?:Test|Suite|Runner) .* recorded an issue(?: with .*)? at (\w+)(?:\+\w+)?\.swift:\d+")
LINES_MAX = 30


def main():
    for path in sys.argv[1:]:
        with open(path, errors="replace") as file:
            lines = file.read().splitlines()
        found = [number for number, line in enumerate(lines) if ISSUE.match(line)]
        for number in found:
            end = number + 1
            while end < len(lines) and end < number + LINES_MAX and not re.match(r"[✔✘◇]", lines[end]):
                end += 1
            print("\n".join(lines[number:end]))
            print(f"  to repeat it: swift test --filter {ISSUE.match(lines[number])[1]}")
        if not found and not any(line.startswith("✔ Test run with") for line in lines):
            print("\n".join([f"{path} ends without a result:", *lines[-LINES_MAX:]]))


if __name__ == "__main__":
    main()
