extension HTTPPreset {
    /// All events and properties of a user, by the application's id.
    ///
    /// Amplitude runs deletions in batches and names 30 days as the time in which they are found.
    static let amplitude = HTTPPreset(
        "amplitude",
        pages: [
            "amplitude.com/docs/apis/analytics/user-privacy"
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://amplitude.com"
        key_credential = "amplitude-secret-key"
        [target.auth]
        scheme = "basic"
        username = "{api_key}"
        [[target.erase]]
        name = "user"
        method = "POST"
        path = "/api/2/deletions/users"
        effect = "repeatable"
        promised = "30d"
        [target.erase.json]
        user_ids = ["{user_id}"]
        ignore_invalid_id = "True"
        requester = "expunged"
        """#
    )
}
