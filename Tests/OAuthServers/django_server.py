"""Django OAuth Toolkit (on OAuthLib), in the smallest project there can be; see serving.py."""

import django
from django.conf import settings
from django.core.management import call_command
from django.core.wsgi import get_wsgi_application
from django.urls import include, path
from serving import Serving

LOGIN = '<form method="post">{% csrf_token %}{{ form }}<button>Sign in</button></form>'
urlpatterns = []


def configure(serving):
    settings.configure(
        SECRET_KEY="of a test that ends in a minute",
        ALLOWED_HOSTS=["127.0.0.1"],
        ROOT_URLCONF=__name__,
        USE_TZ=True,
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        LOGIN_URL="/login/",
        CSRF_TRUSTED_ORIGINS=[serving.issuer],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DATABASES={"default": {
            "ENGINE": "django.db.backends.sqlite3", "NAME": serving.path("server.db"),
            "OPTIONS": {"timeout": 20, "transaction_mode": "IMMEDIATE"}}},
        INSTALLED_APPS=["django.contrib.auth", "django.contrib.contenttypes",
                        "django.contrib.sessions", "oauth2_provider"],
        MIDDLEWARE=["django.contrib.sessions.middleware.SessionMiddleware",
                    "django.middleware.csrf.CsrfViewMiddleware",
                    "django.contrib.auth.middleware.AuthenticationMiddleware"],
        TEMPLATES=[{
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "OPTIONS": {"loaders": [
                ("django.template.loaders.locmem.Loader", {"registration/login.html": LOGIN}),
                "django.template.loaders.app_directories.Loader"]}}],
        # No OpenID Connect: what it publishes of itself is RFC 8414's document alone. A refresh
        # token is good for one use, and a second one ends its whole family.
        OAUTH2_PROVIDER={
            "OIDC_ISS_ENDPOINT": serving.issuer, "REFRESH_TOKEN_REUSE_PROTECTION": True,
            "SCOPES": {"read": "Reading", "introspection": "Asking about tokens"}})
    django.setup()
    call_command("migrate", verbosity=0)


def fill(serving):
    from django.contrib.auth.models import User
    from oauth2_provider.models import Application
    for name, password in serving.settings["users"].items():
        User.objects.create_user(name, password=password)
    for client, secret in serving.settings["clients"].items():
        Application.objects.create(
            name=client, client_id=client, client_secret=secret,
            client_type=Application.CLIENT_CONFIDENTIAL,
            authorization_grant_type=Application.GRANT_AUTHORIZATION_CODE,
            redirect_uris=serving.settings["redirect_uri"])


def tokens():
    from django.utils import timezone
    from oauth2_provider.models import AccessToken, RefreshToken
    found = [(token, "access_token", token.expires > timezone.now())
             for token in AccessToken.objects.all()]
    found += [(token, "refresh_token", token.revoked is None) for token in RefreshToken.objects.all()]
    return [{"user": token.user.username, "client": token.application.client_id, "kind": kind,
             "token": token.token, "live": live} for token, kind, live in found]


def main():
    serving = Serving()
    configure(serving)
    fill(serving)
    from django.contrib.auth.views import LoginView
    urlpatterns.extend([
        path("login/", LoginView.as_view()),
        path("", include("oauth2_provider.urls", namespace="oauth2_provider"))])
    serving.run(get_wsgi_application(), tokens)


if __name__ == "__main__":
    main()
