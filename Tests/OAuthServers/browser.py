"""A user's browser: follows an authorization (RFC 6749 section 4.1) to the code, as a person would."""

import html.parser
import http.cookiejar
import urllib.error
import urllib.parse
import urllib.request

from checks import HANG_S

PAGES_MAX = 8


class Forms(html.parser.HTMLParser):
    """The form with a button, of a page: where it goes, what is filled in already, its buttons."""

    def __init__(self, page):
        super().__init__()
        self.forms = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self.forms.append({"action": values.get("action") or "", "fields": {}, "buttons": []})
        elif self.forms and tag in ("input", "button"):
            form, kind = self.forms[-1], values.get("type", "submit" if tag == "button" else "text")
            if kind == "submit":
                form["buttons"].append((values.get("name"), values.get("value", "")))
            elif values.get("name") and (kind != "checkbox" or "checked" in values):
                form["fields"][values["name"]] = values.get("value") or ""


class AtTheApplication(Exception):
    """The browser was sent back to the application."""

    def __init__(self, url):
        super().__init__("at the application")
        self.parameters = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))


class Browser:
    """One session with cookies of its own."""

    def __init__(self, context, redirect_uri):
        class Redirects(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, request, file, code, message, headers, url):
                if url.startswith(redirect_uri):
                    raise AtTheApplication(url)
                return super().redirect_request(request, file, code, message, headers, url)

        self.opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context),
            urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()), Redirects)

    def authorize(self, url, answers):
        """The parameters of the redirect at the end; `answers` are a person's, by field or button."""
        request = url
        try:
            for _ in range(PAGES_MAX):
                with self.opener.open(request, timeout=HANG_S) as reply:
                    request = self.submit(reply.url, reply.read().decode(), answers)
        except AtTheApplication as end:
            return end.parameters
        raise AssertionError(f"no end after {PAGES_MAX} pages; at {request.full_url}")

    @staticmethod
    def submit(url, page, answers):
        for form in Forms(page).forms:
            fields = form["fields"]
            mine = {name: answers[name] for name in fields if name in answers}
            pressed = [(name, value) for name, value in form["buttons"] if answers.get(name) == value]
            if not mine and not pressed:
                continue
            fields.update(mine, **dict(pressed))
            return urllib.request.Request(
                urllib.parse.urljoin(url, form["action"]), urllib.parse.urlencode(fields).encode(),
                {"Referer": url})
        raise AssertionError(f"no form for a person at {url}: {page[-1500:]}")
