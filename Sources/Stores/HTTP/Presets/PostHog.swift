extension HTTPPreset {
    /// Persons with their events and recordings, by a distinct id.
    ///
    /// The person goes at once, the events with a later run.
    static let postHog = HTTPPreset(
        "posthog",
        pages: [
            "posthog.com/docs/api/persons-3",
            "posthog.com/docs/privacy/data-deletion",
        ],
        read: "2026-11-23",
        #"""
        base_url = "https://us.posthog.com"
        key_credential = "posthog-personal-api-key"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "person"
        method = "POST"
        path = "/api/projects/{project_id}/persons/bulk_delete/"
        effect = "repeatable"
        keeps = "events and recordings at PostHog, until their queued deletion has run"
        json = { distinct_ids = ["{user_id}"], delete_events = true, delete_recordings = true }
        [[target.verify]]
        name = "person"
        method = "GET"
        path = "/api/projects/{project_id}/persons/"
        query = { distinct_id = "{user_id}" }
        items = "/results"
        id = "/id"
        next = "/next"
        """#
    )
}
