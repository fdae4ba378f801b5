extension HTTPPreset {
    /// User profiles, by the application's id.
    static let braze = HTTPPreset(
        "braze",
        pages: [
            "www.braze.com/docs/api/endpoints/user_data/post_user_delete",
            "www.braze.com/docs/api/endpoints/export/user_data/post_users_identifier",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "braze-key"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "user"
        method = "POST"
        path = "/users/delete"
        json = { external_ids = ["{user_id}"] }
        effect = "repeatable"
        count = "/deleted"
        [[target.verify]]
        name = "user"
        method = "POST"
        path = "/users/export/ids"
        json = { external_ids = ["{user_id}"], fields_to_export = ["external_id"] }
        items = "/users"
        match = { "/external_id" = "{user_id}" }
        """#
    )
}
