"""A local mail server (RFC 5321) that keeps what it takes, and refuses, hangs or breaks off when asked to."""

import collections
import email
import email.policy
import socketserver
import threading

from checks import HANG_S

Mail = collections.namedtuple("Mail", "sender recipients message raw")


class MailServer:
    def __init__(self):
        self.mails, self.lock = [], threading.Lock()
        # "take", "defer", "refuse" (the recipient), "hang", "break" (after the message) or "close" (at once).
        self.mode = "take"
        # Messages after which it broke off.
        self.broken = 0
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            timeout = HANG_S

            def say(self, line):
                self.wfile.write(line.encode() + b"\r\n")

            def handle(self):
                try:
                    outer.serve(self)
                except OSError:
                    pass

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, peer):
        if self.mode == "close":
            return
        if self.mode == "hang":
            peer.rfile.read(1)  # Until the other side has given up.
            return
        peer.say("220-mail.test ESMTP")
        peer.say("220 ready")
        sender, recipients = None, []
        while line := peer.rfile.readline(1000):
            assert line.endswith(b"\r\n"), line
            words = line.decode("ascii").rstrip("\r\n")
            verb = words.split(" ")[0].split(":")[0].upper()
            if verb == "EHLO":
                peer.say("250-mail.test")
                peer.say("250 8BITMIME")
            elif verb == "HELO":
                peer.say("250 mail.test")
            elif verb == "MAIL":
                sender, recipients = words[words.index("<") + 1:words.index(">")], []
                peer.say("250 ok")
            elif verb == "RCPT":
                if self.mode == "refuse":
                    peer.say("550 5.1.1 no such user")
                elif self.mode == "defer":
                    peer.say("451 4.3.0 later")
                else:
                    recipients.append(words[words.index("<") + 1:words.index(">")])
                    peer.say("250 ok")
            elif verb == "DATA":
                peer.say("354 go on")
                lines = []
                while (line := peer.rfile.readline(1000)) != b".\r\n":
                    assert line.endswith(b"\r\n") and len(line) <= 1000, line
                    lines.append(line[1:] if line.startswith(b".") else line)
                if self.mode == "break":
                    self.broken += 1
                    return
                raw = b"".join(lines)
                with self.lock:
                    self.mails.append(Mail(sender, recipients, email.message_from_bytes(raw, policy=email.policy.SMTP), raw))
                peer.say("250 2.0.0 queued")
            elif verb == "QUIT":
                peer.say("221 bye")
                return
            else:
                peer.say("250 ok")

    def to(self, address):
        with self.lock:
            return [mail for mail in self.mails if mail.recipients == [address]]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
