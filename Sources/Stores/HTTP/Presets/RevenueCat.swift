extension HTTPPreset {
    /// Customers of one project, by the app user id.
    ///
    /// Version 1 of the API makes a customer when it is asked for one, so this is version 2.
    static let revenueCat = HTTPPreset(
        "revenuecat",
        pages: [
            "www.revenuecat.com/docs/api-v2", "www.revenuecat.com/docs/api-v1/customers",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://api.revenuecat.com"
        key_credential = "revenuecat-key"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "customer"
        method = "DELETE"
        path = "/v2/projects/{project_id}/customers/{user_id}"
        gone = [404]
        gone_if = { "/type" = "resource_missing" }
        [[target.verify]]
        name = "customer"
        method = "GET"
        path = "/v2/projects/{project_id}/customers/{user_id}"
        gone = [404]
        gone_if = { "/type" = "resource_missing" }
        """#
    )
}
