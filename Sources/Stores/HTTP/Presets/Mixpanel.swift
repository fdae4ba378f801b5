extension HTTPPreset {
    /// All events and the profile of a user, by the distinct id.
    ///
    /// Mixpanel names up to 30 days for a deletion task. A second task of one user does no harm.
    static let mixpanel = HTTPPreset(
        "mixpanel",
        pages: [
            "developer.mixpanel.com/reference/gdpr-api",
            "docs.mixpanel.com/docs/privacy/end-user-data-management",
        ],
        read: "2026-11-26",
        #"""
        base_url = "https://mixpanel.com/api/app"
        key_credential = "mixpanel-gdpr-token"
        calls_per_minute = 60
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "user"
        method = "POST"
        path = "/data-deletions/v3.0/"
        query = { token = "{token}" }
        json = { distinct_ids = ["{user_id}"], compliance_type = "GDPR" }
        effect = "repeatable"
        count = "/results/0/distinct_id_count"
        promised = "30d"
        """#
    )
}
