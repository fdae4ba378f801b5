"""A provider's key that no file holds: made in a TPM (swtpm), it signs Apple's client secrets there."""

import os
import socket
import subprocess
import tempfile

from checks import HANG_S, comes_true
from sandbox import CLIENT
from scenario import scenario
from stage import Stage

HANDLE = "0x81000001"
TRIES = 10
CONFIGURATION = """
openssl_conf = init
[init]
providers = providers
[providers]
default = on
tpm2 = on
[on]
activate = 1
"""


class Tpm:
    """A TPM 2.0 in software, on two ports of 127.0.0.1."""

    def __init__(self, directory):
        self.directory = directory
        with open(self.path("openssl.cnf"), "w") as file:
            file.write(CONFIGURATION)
        # Somebody else may get one of the ports in between.
        assert any(self.answers_at(adjacent_ports()) for _ in range(TRIES)), "no TPM"

    def answers_at(self, port):
        self.process = subprocess.Popen(
            ["swtpm", "socket", "--tpm2", "--tpmstate", f"dir={self.directory}",
             "--server", f"type=tcp,port={port},bindaddr=127.0.0.1",
             "--ctrl", f"type=tcp,port={port + 1},bindaddr=127.0.0.1",
             "--flags", "not-need-init,startup-clear"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        address = f"swtpm:host=127.0.0.1,port={port}"
        self.environment = {"TPM2TOOLS_TCTI": address, "TPM2OPENSSL_TCTI": address,
                            "OPENSSL_CONF": self.path("openssl.cnf")}
        comes_true(lambda: self.process.poll() is not None
                   or self.run("tpm2_getrandom", "--hex", "4").returncode == 0)
        return self.process.poll() is None

    def path(self, name):
        return os.path.join(self.directory, name)

    def run(self, *command):
        return subprocess.run(command, cwd=self.directory, capture_output=True, text=True, timeout=HANG_S,
                              env=dict(os.environ, **self.environment))

    def make_key(self):
        """Makes a P-256 key that cannot leave, at a fixed handle; answers the file of its public half."""
        for command in (
                "tpm2_createprimary -C o -G ecc256 -c primary",
                "tpm2_create -C primary -G ecc256 -u public -r private"
                " -a fixedtpm|fixedparent|sensitivedataorigin|userwithauth|sign",
                "tpm2_flushcontext -t",
                "tpm2_load -C primary -u public -r private -c key",
                f"tpm2_evictcontrol -C o -c key {HANDLE}",
                "tpm2_flushcontext -t",
                f"openssl pkey -in handle:{HANDLE} -pubout -out public.pem"):
            done = self.run(*command.split())
            assert done.returncode == 0, (command, done.stderr)
        return self.path("public.pem")

    def close(self):
        self.process.terminate()
        self.process.wait(HANG_S)


def adjacent_ports():
    """The first of two free ports; the protocol wants the second one right behind it."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as first, socket.socket() as second:
            port = first.getsockname()[1]
            try:
                second.bind(("127.0.0.1", port + 1))
            except OSError:
                continue
            return port


@scenario()
def token_key(checks, seed):
    with tempfile.TemporaryDirectory(prefix="expunged-tpm-") as directory:
        tpm = Tpm(directory)
        stage = Stage(checks, seed)
        try:
            # The stand-in forgets its own key: only what the TPM signs is a client secret.
            stage.sandbox.ask("register-client", "--client-id", CLIENT, "--team-id", "ABCDE12345",
                              "--key-id", "KEY1234567", "--key-file", tpm.make_key())
            play(checks, stage, tpm)
            stage.scan()
        finally:
            stage.close()
            tpm.close()


def play(checks, stage, tpm):
    user, other = stage.new_users(2)
    token, _ = stage.new_tokens(2)
    stage.starts()
    status, body = stage.http("POST", "/v1/providers/apple/check", {})
    checks.check("the old key is refused", status == 200 and body["findings"], body)
    stage.stop()
    with open(stage.path("credentials/apple-key.p8"), "w") as file:
        file.write(f"handle:{HANDLE}\n")
    stage.start()
    if checks.check("without the provider in openssl.cnf the daemon starts", stage.comes_up(), stage.log()[-1500:]):
        _, body = stage.http("GET", "/v1/providers")
        checks.check("     the provider is paused, and the journal names the key",
                     [item["state"] for item in body["items"]] == ["paused"] and "apple-key.p8" in stage.log(),
                     (body, stage.log()[-1500:]))
    stage.stop()
    stage.start(**tpm.environment)
    if not checks.check("with a key in the TPM the daemon starts", stage.comes_up(), stage.log()[-1500:]):
        return
    status, body = stage.http("POST", "/v1/providers/apple/check", {})
    checks.check("Apple accepts what the TPM signed", status == 200 and not body["findings"], body)
    stage.store(user, token)
    _, request = stage.delete(user)
    done = comes_true(
        lambda: stage.http("GET", f"/v1/requests/{request['id']}")[1]["state"] == "completed", 30)
    checks.check("a deletion is carried out", done, stage.log()[-1500:])
    checks.check("its token is revoked at Apple", token["subject"] in stage.sandbox.revoked_at())
    checks.equal("the other user is untouched", set(stage.rows_left()), {other})
