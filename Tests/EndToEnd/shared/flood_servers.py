"""Servers that send without end, in the protocols of PostgreSQL and MySQL, on a socket in a folder."""

import os
import socket
import struct
import threading

from store_servers import keep_secret

MEBIBYTE = b"x" * (1 << 20)


class Flood:
    """Answers each client in a thread; `mode` says what has no end."""

    def __init__(self, directory, mode):
        os.makedirs(directory)
        self.directory, self.mode = directory, mode
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(directory, self.file))
        self.listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        try:
            with client, client.makefile("rb") as source:
                self.serve(client, source)
        except (OSError, struct.error):
            pass  # The client had enough.

    def close(self):
        self.listener.close()


class PostgreSQLFlood(Flood):
    """See PostgreSQL 15, 55.7."""

    file = ".s.PGSQL.5432"
    modes = ("settings", "row", "rows", "error", "notice", "notifications")

    def section(self, stage):
        keep_secret(stage, "flood-conninfo", f"host={self.directory} dbname=d user=u")
        return 'kind = "postgresql"\nconninfo_credential = "flood-conninfo"\n'

    @staticmethod
    def message(kind, body):
        return kind + struct.pack("!I", len(body) + 4) + body

    def long(self, client, kind, length, head):
        client.sendall(kind + struct.pack("!I", length + 4) + head)
        for _ in range(length >> 20):
            client.sendall(MEBIBYTE)

    def serve(self, client, source):
        source.read(struct.unpack("!I", source.read(4))[0] - 4)
        message = self.message
        client.sendall(message(b"R", bytes(4)) + message(b"S", b"server_version\x0015.1\0")
                       + message(b"K", bytes(8)) + message(b"Z", b"I"))
        source.read(1)
        column = struct.pack("!H", 1) + b"a\0" + struct.pack("!IHIhih", 0, 0, 25, -1, -1, 0)
        client.sendall(message(b"1", b"") + message(b"2", b"") + message(b"T", column))
        value = b"y" * 100_000  # The bytes are to end the answer, and not the time that rows take.
        repeated = {
            "rows": message(b"D", struct.pack("!HI", 1, len(value)) + value),
            "notifications": message(b"A", struct.pack("!I", 1) + b"channel\0payload\0") * 500,
        }
        number = 0
        while True:
            if self.mode == "row":
                self.long(client, b"D", 1 << 30, struct.pack("!HI", 1, (1 << 30) - 6))
            elif self.mode == "error":
                self.long(client, b"E", 900 << 20, b"SERROR\0C23514\0M")
            elif self.mode == "notice":
                self.long(client, b"N", 900 << 20, b"SNOTICE\0C00000\0M")
            elif self.mode == "settings":
                client.sendall(b"".join(message(b"S", b"name%d\0value\0" % n) for n in range(number, number + 100)))
                number += 100
            else:
                client.sendall(repeated[self.mode])


class MySQLFlood(Flood):
    """See MariaDB, Clientserver Protocol."""

    file = "socket"
    modes = ("packet", "columns", "rows")

    def section(self, stage):
        del stage
        return f'kind = "mysql"\nsocket = "{self.directory}/{self.file}"\ndatabase = "d"\nusername = "u"\n'

    @staticmethod
    def packet(number, body):
        return struct.pack("<I", len(body))[:3] + bytes([number % 256]) + body

    @classmethod
    def text(cls, value):
        return b"\xfd" + struct.pack("<I", len(value))[:3] + value

    def column(self, number, name):
        fixed = b"\x0c" + struct.pack("<HIBHB", 45, 1000, 0xfd, 0, 0) + bytes(2)
        return self.packet(number, b"".join(map(self.text, [b"def", b"", b"", b"", name, b""])) + fixed)

    def read(self, source):
        length = int.from_bytes(source.read(4)[:3], "little")
        return source.read(length)

    def serve(self, client, source):
        fine, end = b"\0\0\0\2\0\0\0", b"\xfe\0\0\2\0"
        abilities = 0x0008_a20a | 0x200
        client.sendall(self.packet(0, b"\x0a5.5.5-10.11.1-MariaDB\0" + struct.pack("<I", 1) + b"saltsalt\0"
                                   + struct.pack("<HBHHB", abilities & 0xffff, 45, 2, abilities >> 16, 21)
                                   + bytes(10) + b"saltsaltsalt\0mysql_native_password\0"))
        self.read(source)
        client.sendall(self.packet(2, fine))
        while command := self.read(source):
            if self.mode == "packet":
                client.sendall(b"\xff\xff\xff\x01" + b"\x01")
                while True:
                    # Pieces of one packet, each of the greatest length.
                    client.sendall((MEBIBYTE * 16)[:0xffffff - 1] + b"\xff\xff\xff\x02" + b"x")
            elif command[0] == 0x16:
                self.prepare(client, command, end)
            elif command[0] == 0x17:
                if self.columns:
                    self.flood(client, end)
                client.sendall(self.packet(1, fine))
            elif command[0] == 0x03:
                client.sendall(self.packet(1, fine))

    def prepare(self, client, command, end):
        parameters = command.count(b"?")
        self.columns = 3 if b"SELECT" in command else 0
        if self.mode == "columns":
            self.columns = 65535
        client.sendall(self.packet(1, b"\0" + struct.pack("<IHHBH", 1, self.columns, parameters, 0, 0)))
        number = 2
        for count, name in ((parameters, b"?"), (self.columns, b"c")):
            for _ in range(count):
                long = MEBIBYTE if self.mode == "columns" and name == b"c" else b""
                client.sendall(self.column(number, name + long))
                number += 1
            if count:
                client.sendall(self.packet(number, end))
                number += 1

    def flood(self, client, end):
        client.sendall(self.packet(1, bytes([self.columns])))
        for index in range(self.columns):
            client.sendall(self.column(2 + index, b"c"))
        client.sendall(self.packet(2 + self.columns, end))
        number = 3 + self.columns
        row = b"\0\0" + self.text(b"y" * 100_000) * self.columns
        while True:
            client.sendall(b"".join(self.packet(number + index, row) for index in range(2)))
            number += 2
