"""Checks AWS Signature Version 4 of a call, as "Create a signed AWS API request" in the IAM User Guide has it.

docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html, read 2026-11-28.
"""
import hashlib, hmac, re, urllib.parse

KEY_ID, SECRET, REGION, SERVICE = "AKIDEXAMPLE", "canary-http-9c1d", "eu-central-1", "execute-api"
FORM = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/([^/]+)/aws4_request, ?"
                  r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})")


def is_right(method, path, query, body, headers):
    found = FORM.fullmatch(headers["Authorization"])
    if not found:
        return False
    key_id, day, region, service, names, signature = found.groups()
    names, time, digest = names.split(";"), headers.get("x-amz-date", ""), hashlib.sha256(body).hexdigest()
    if (key_id, region, service) != (KEY_ID, REGION, SERVICE) or not time.startswith(day + "T"):
        return False
    if names != sorted(names) or not {"host", "x-amz-date"} <= set(names):
        return False
    if headers.get("x-amz-content-sha256", digest) != digest:
        return False
    canonical = "\n".join([
        method, encoded(path, "/"), arguments(query),
        "".join(f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in names), ";".join(names), digest])
    scope = f"{day}/{region}/{service}/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", time, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = b"AWS4" + SECRET.encode()
    for part in scope.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    return hmac.compare_digest(hmac.new(key, text.encode(), "sha256").hexdigest(), signature)


def encoded(text, safe=""):
    """Of the path each segment once more: every service but S3 has it so."""
    return urllib.parse.quote(text, safe=safe + "-_.~")


def arguments(query):
    pairs = [pair.partition("=") for pair in query.split("&") if pair]
    decoded = [(urllib.parse.unquote(name), urllib.parse.unquote(value)) for name, _, value in pairs]
    return "&".join("=".join(pair) for pair in sorted((encoded(name), encoded(value)) for name, value in decoded))
