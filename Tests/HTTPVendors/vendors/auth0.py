"""auth0.com/docs/api/management/v2: DELETE is 204 whether or not the user is there; the token comes from
/oauth/token for the audience of the tenant, and ends.
"""
from .vendor import Answer, Base, route


class Vendor(Base):
    def fill(self):
        self.things = {name: {"owner": name} for name in [self.user] + self.lookalikes()}
        self.token = 0

    def serve(self, method, path, query, data, headers):
        if path == "/oauth/token":
            wanted = {"grant_type": "client_credentials", "client_id": "c1", "client_secret": "canary-http-9c1d",
                      "audience": "https://example.eu.auth0.com/api/v2/"}
            if data != wanted:
                return Answer(401, {"error": "access_denied", "error_description": "Unauthorized"})
            self.token += 1
            return Answer(200, {"access_token": f"token-{self.token}", "token_type": "Bearer", "expires_in": 86400})
        self.authorization = ("Authorization", f"Bearer token-{self.token}")
        return super().serve(method, path, query, data, headers)

    @route("DELETE", "/api/v2/users/{}")
    def delete(self, user, **_):
        self.things.pop(user, None)
        return Answer(204)

    @route("GET", "/api/v2/users/{}")
    def get(self, user, **_):
        if user not in self.things:
            return Answer(404, {"statusCode": 404, "error": "Not Found", "errorCode": "inexistent_user"})
        return Answer(200, {"user_id": user})
