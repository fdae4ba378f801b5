"""The emulator of Cloud Storage, with the first and last name of a listing, which it does not know.

And without its habit of writing the list of all objects to a file after each change: with a thousand objects that
takes 50 ms of a change. What is kept in memory is never read from that file. A change takes CHANGE_S instead.
"""

import os
import sys
import time

from gcp_storage_emulator.handlers import objects
from gcp_storage_emulator.storage import Storage

listing = objects.ls


class Range:
    """The part of the storage that a listing asks for (cloud.google.com/storage/docs/json_api/v1/objects/list)."""

    def __init__(self, storage, query):
        self.storage = storage
        self.start, self.end = (query.get(name, [None])[0] for name in ("startOffset", "endOffset"))

    def get_file_list(self, *arguments):
        files, prefixes = self.storage.get_file_list(*arguments)
        return [file for file in files if (self.start is None or file["name"] >= self.start)
                and (self.end is None or file["name"] < self.end)], prefixes


objects.ls = lambda request, response, storage, *more, **named: listing(
    request, response, Range(storage, request.query), *more, **named)
change_s = float(os.environ.get("CHANGE_S", 0))
Storage._write_config_to_file = lambda self: time.sleep(change_s)

if __name__ == "__main__":
    # It binds the handlers when it is imported.
    from gcp_storage_emulator.__main__ import main
    sys.exit(main())
