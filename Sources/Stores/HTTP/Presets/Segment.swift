extension HTTPPreset {
    /// All data of a user in a workspace, by the application's id; later data is refused.
    ///
    /// Segment names 30 days for a deletion, and passes it on without a promise for others.
    static let segment = HTTPPreset(
        "segment",
        pages: [
            "segment.com/docs/privacy/user-deletion-and-suppression",
            "docs.segmentapis.com/tag/Deletion-and-Suppression",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://api.segmentapis.com"
        key_credential = "segment-token"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "regulation"
        method = "POST"
        path = "/regulations"
        effect = "repeatable"
        promised = "30d"
        keeps = "what destinations of Segment have received, unless they delete it, too"
        [target.erase.json]
        regulationType = "SUPPRESS_WITH_DELETE"
        subjectType = "USER_ID"
        subjectIds = ["{user_id}"]
        """#
    )
}
