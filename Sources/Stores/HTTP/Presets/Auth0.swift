extension HTTPPreset {
    /// Users, by their ids such as `auth0|5f7c`.
    ///
    /// The second deletion of one answers as the first.
    static let auth0 = HTTPPreset(
        "auth0",
        pages: [
            "auth0.com/docs/api/management/v2/users/delete-users-by-id",
            "help.okta.com/en/prod/Content/Topics/Workflows/connector-reference/auth0/"
                + "actions/deleteuser.htm",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "auth0-client-secret"
        check_id = "auth0|000000000000000000000000"
        [target.auth]
        scheme = "oauth2"
        username = "{client_id}"
        token_url = "/oauth/token"
        token_form = { audience = "https://{domain}/api/v2/" }
        secret_in_body = true
        [[target.erase]]
        name = "user"
        method = "DELETE"
        path = "/api/v2/users/{user_id}"
        status = [204]
        [[target.verify]]
        name = "user"
        method = "GET"
        path = "/api/v2/users/{user_id}"
        query = { fields = "user_id" }
        gone = [404]
        gone_if = { "/errorCode" = "inexistent_user" }
        """#
    )
}
