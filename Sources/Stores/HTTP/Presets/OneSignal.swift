extension HTTPPreset {
    /// Users with their subscriptions, by the application's id.
    ///
    /// The vendor deletes shortly after its answer. It documents no code of the error for a user
    /// that it does not know, so the app's segments prove that the app is there.
    static let oneSignal = HTTPPreset(
        "onesignal",
        pages: [
            "documentation.onesignal.com/reference/delete-user",
            "documentation.onesignal.com/reference/view-user",
            "documentation.onesignal.com/reference/view-segments",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://api.onesignal.com"
        key_credential = "onesignal-key"
        [target.auth]
        scheme = "header"
        header = "Authorization"
        prefix = "Key "
        [[target.erase]]
        name = "app"
        method = "GET"
        path = "/apps/{app_id}/segments"
        query = { limit = "1" }
        effect = "proves"
        [[target.erase]]
        name = "user"
        method = "DELETE"
        path = "/apps/{app_id}/users/by/external_id/{user_id}"
        gone = [404]
        [[target.verify]]
        name = "app"
        method = "GET"
        path = "/apps/{app_id}/segments"
        query = { limit = "1" }
        effect = "proves"
        [[target.verify]]
        name = "user"
        method = "GET"
        path = "/apps/{app_id}/users/by/external_id/{user_id}"
        gone = [404]
        """#
    )
}
