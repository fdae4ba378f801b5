extension HTTPPreset {
    /// Users, by the ids of Zendesk.
    ///
    /// A deleted user stays restorable until a second deletion. A search finds no deleted users, so
    /// an interrupted erasure could not go on by another id.
    static let zendesk = HTTPPreset(
        "zendesk",
        pages: [
            "developer.zendesk.com/api-reference/ticketing/users/users/#delete-user",
            "developer.zendesk.com/api-reference/ticketing/users/users/#permanently-delete-user",
            "developer.zendesk.com/api-reference/ticketing/users/users/#show-deleted-user",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "zendesk-token"
        check_id = "999999999999"
        [target.auth]
        scheme = "basic"
        username = "{agent}/token"
        [[target.erase]]
        name = "active"
        method = "GET"
        path = "/api/v2/users/{user_id}"
        id = "/user/id"
        gone = [200, 404]
        gone_if = { "/user/active" = "false", "/error" = "RecordNotFound" }
        [[target.erase]]
        name = "deletion"
        method = "DELETE"
        path = "/api/v2/users/{id}"
        for_each = "active"
        gone = [404]
        gone_if = { "/error" = "RecordNotFound" }
        [[target.erase]]
        name = "user"
        method = "DELETE"
        path = "/api/v2/deleted_users/{user_id}"
        gone = [404]
        gone_if = { "/error" = "RecordNotFound" }
        keeps = "tickets of the user at Zendesk"
        [[target.verify]]
        name = "active"
        method = "GET"
        path = "/api/v2/users/{user_id}"
        gone = [200, 404]
        gone_if = { "/user/active" = "false", "/error" = "RecordNotFound" }
        [[target.verify]]
        name = "deleted"
        method = "GET"
        path = "/api/v2/deleted_users/{user_id}"
        gone = [404]
        gone_if = { "/error" = "RecordNotFound" }
        """#
    )
}
