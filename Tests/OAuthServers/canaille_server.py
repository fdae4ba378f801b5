"""Canaille (on Authlib), with users in memory; see serving.py."""

import datetime

import canaille
from canaille.app import models
from canaille.backends import Backend
from serving import Serving

CONFIGURATION = {
    "SECRET_KEY": "of a test that ends in a minute",
    "PREFERRED_URL_SCHEME": "https",
    "CANAILLE": {"DATABASE": "memory", "ENABLE_PASSWORD_COMPROMISSION_CHECK": False},
}


def main():
    serving = Serving()
    app = canaille.create_app(config=dict(CONFIGURATION, SERVER_NAME=serving.authority))
    with app.app_context():
        for name, password in serving.settings["users"].items():
            Backend.instance.save(models.User(
                user_name=name, formatted_name=name, family_name=name, password=password,
                emails=[f"{name}@example.invalid"]))
        for client, secret in serving.settings["clients"].items():
            add_client(client, secret, serving.settings["redirect_uri"])

    def tokens():
        with app.app_context():
            return [described(token, **{kind: getattr(token, kind)})
                    for token in Backend.instance.query(models.Token)
                    for kind in ("access_token", "refresh_token") if getattr(token, kind)]

    serving.run(app, tokens)


def add_client(name, secret, redirect_uri):
    client = models.Client(
        client_id=name, client_secret=secret, client_name=name, redirect_uris=[redirect_uri],
        client_id_issued_at=datetime.datetime.now(datetime.timezone.utc),
        token_endpoint_auth_method="client_secret_basic", response_types=["code"],
        grant_types=["authorization_code", "refresh_token"], scope=["openid", "profile"],
        client_uri="https://app.example.invalid")
    Backend.instance.save(client)
    client.audience = [client]
    Backend.instance.save(client)


def described(token, **value):
    (kind, text), = value.items()
    return {"user": token.subject.user_name, "client": token.client.client_id, "kind": kind,
            "token": text, "live": token.revokation_date is None and not token.is_expired()}


if __name__ == "__main__":
    main()
