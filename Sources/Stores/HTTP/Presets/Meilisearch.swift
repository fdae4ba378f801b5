extension HTTPPreset {
    /// Documents with the user's id in one attribute, which must be in filterableAttributes.
    static let meilisearch = HTTPPreset(
        "meilisearch",
        pages: [
            "meilisearch.com/docs/capabilities/indexing/how_to/delete_documents_at_scale",
            "meilisearch.com/docs/capabilities/indexing/tasks_and_batches/filter_tasks",
        ],
        read: "2026-11-23",
        #"""
        [[target]]
        name = "meilisearch"
        kind = "http"
        key_credential = "meilisearch-key"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "documents"
        method = "POST"
        path = "/indexes/{index}/documents/delete"
        json = { filter = "{attribute} = \"{user_id}\"" }
        effect = "repeatable"
        status = [202]
        id = "/taskUid"
        [[target.erase]]
        name = "task"
        method = "GET"
        path = "/tasks/{id}"
        for_each = "documents"
        until = { "/status" = "succeeded" }
        fails = { "/status" = "failed" }
        count = "/details/deletedDocuments"
        every = "1s"
        [[target.verify]]
        name = "documents"
        method = "POST"
        path = "/indexes/{index}/documents/fetch"
        json = { filter = "{attribute} = \"{user_id}\"", limit = 1, fields = ["{attribute}"] }
        count = "/total"
        """#
    )
}
