extension HTTPPreset {
    /// Customers, by their ids; a deleted one can still be retrieved, without its cards.
    static let stripe = HTTPPreset(
        "stripe",
        pages: [
            "docs.stripe.com/api/customers/delete", "docs.stripe.com/api/customers/retrieve",
            "docs.stripe.com/privacy/deletion-requests",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://api.stripe.com"
        key_credential = "stripe-key"
        check_id = "cus_expungedcheck"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "customer"
        method = "DELETE"
        path = "/v1/customers/{user_id}"
        status = [200]
        gone = [200, 404]
        gone_if = { "/error/code" = "resource_missing" }
        keeps = "payments and invoices of the customer at Stripe, until a redaction job"
        [[target.verify]]
        name = "customer"
        method = "GET"
        path = "/v1/customers/{user_id}"
        status = [200]
        gone = [200, 404]
        gone_if = { "/deleted" = "true", "/error/code" = "resource_missing" }
        """#
    )
}
