extension HTTPPreset {
    /// Documents with the user's id in one attribute, which must be in filterableAttributes.
    ///
    /// A filter on a text ignores case, so what it finds is compared and deleted by its own id.
    static let meilisearch = HTTPPreset(
        "meilisearch",
        pages: [
            "meilisearch.com/docs/reference/api/documents",
            "meilisearch.com/docs/capabilities/filtering_sorting_faceting/advanced/"
                + "filter_expression_syntax",
            "meilisearch.com/docs/capabilities/indexing/tasks_and_batches/filter_tasks",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "meilisearch-key"
        [target.auth]
        scheme = "bearer"
        [[target.erase]]
        name = "found"
        method = "POST"
        path = "/indexes/{index}/documents/fetch"
        effect = "reads"
        items = "/results"
        id = "/{primary_key}"
        match = { "/{attribute}" = "{user_id}" }
        [target.erase.json]
        filter = "{attribute} = \"{user_id}\""
        limit = 20000
        fields = ["{primary_key}", "{attribute}"]
        [[target.erase]]
        name = "documents"
        method = "DELETE"
        path = "/indexes/{index}/documents/{id}"
        for_each = "found"
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
        items = "/results"
        match = { "/{attribute}" = "{user_id}" }
        [target.verify.json]
        filter = "{attribute} = \"{user_id}\""
        limit = 20000
        fields = ["{attribute}"]
        """#
    )
}
