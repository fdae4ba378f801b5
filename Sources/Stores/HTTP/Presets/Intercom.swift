extension HTTPPreset {
    /// Contacts, by the application's id.
    ///
    /// A deleted contact is kept for seven days and then destroyed. The search does not find it.
    static let intercom = HTTPPreset(
        "intercom",
        pages: [
            "developers.intercom.com/docs/references/2.3/rest-api/contacts/delete-contact",
            "developers.intercom.com/docs/references/2.17/rest-api/api.intercom.io/contacts/"
                + "searchcontacts",
            "developers.intercom.com/docs/references/2.2/rest-api/common-structures/"
                + "pagination-cursor",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://api.intercom.io"
        key_credential = "intercom-token"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "contacts"
        method = "POST"
        path = "/contacts/search"
        effect = "reads"
        items = "/data"
        id = "/id"
        match = { "/external_id" = "{user_id}" }
        next = "/pages/next/starting_after"
        [target.erase.json]
        query = { field = "external_id", operator = "=", value = "{user_id}" }
        pagination = { per_page = 150, starting_after = "{cursor}" }
        [[target.erase]]
        name = "contact"
        method = "DELETE"
        path = "/contacts/{id}"
        for_each = "contacts"
        gone = [404]
        gone_if = { "/errors/0/code" = "not_found" }
        promised = "7d"
        [[target.verify]]
        name = "contact"
        method = "POST"
        path = "/contacts/search"
        items = "/data"
        id = "/id"
        match = { "/external_id" = "{user_id}" }
        next = "/pages/next/starting_after"
        [target.verify.json]
        query = { field = "external_id", operator = "=", value = "{user_id}" }
        pagination = { per_page = 150, starting_after = "{cursor}" }
        """#
    )
}
