extension HTTPPreset {
    /// Users, by their ids.
    ///
    /// The first deletion of an active user deactivates, the second one deletes. Okta destroys the
    /// data within 30 days.
    static let okta = HTTPPreset(
        "okta",
        pages: [
            "help.okta.com/en/prod/Content/Topics/Workflows/connector-reference/okta/actions/"
                + "deleteuser.htm",
            "help.okta.com/en-us/Content/Topics/users-groups-profiles/"
                + "usgp-deactivate-user-account.htm",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "okta-token"
        check_id = "00u000000000000000"
        [target.auth]
        scheme = "header"
        header = "Authorization"
        prefix = "SSWS "
        [[target.erase]]
        name = "deactivation"
        method = "DELETE"
        path = "/api/v1/users/{user_id}"
        gone = [404]
        gone_if = { "/errorCode" = "E0000007" }
        [[target.erase]]
        name = "user"
        method = "DELETE"
        path = "/api/v1/users/{user_id}"
        gone = [404]
        gone_if = { "/errorCode" = "E0000007" }
        promised = "30d"
        [[target.verify]]
        name = "user"
        method = "GET"
        path = "/api/v1/users/{user_id}"
        gone = [404]
        gone_if = { "/errorCode" = "E0000007" }
        """#
    )
}
