extension HTTPPreset {
    /// People of a workspace, by the application's id.
    ///
    /// One host deletes them and another one shows them, each with a key of its own. The older call
    /// guesses from an id what it is, so that one with an `@` is an address: this one says it.
    static let customerIO = HTTPPreset(
        "customer-io",
        pages: [
            "docs.customer.io/integrations/api/track/tag/track-v2/entity",
            "docs.customer.io/integrations/api/app/tag/customers/getPeopleById",
            "docs.customer.io/journeys/deleting-users",
        ],
        read: "2026-11-26",
        #"""
        base_url = "https://track.customer.io"
        key_credential = "customer-io-track-key"
        [target.auth]
        scheme = "basic"
        username = "{site_id}"
        [target.verify_host]
        base_url = "https://api.customer.io"
        key_credential = "customer-io-app-key"
        scheme = "bearer"
        [[target.erase]]
        name = "person"
        method = "POST"
        path = "/api/v2/entity"
        json = { type = "person", identifiers = { id = "{user_id}" }, action = "delete" }
        effect = "repeatable"
        [[target.verify]]
        name = "person"
        method = "POST"
        path = "/v1/customers/attributes"
        query = { id_type = "id" }
        json = { ids = ["{user_id}"] }
        items = "/customers"
        match = { "/customer/id" = "{user_id}" }
        """#
    )
}
