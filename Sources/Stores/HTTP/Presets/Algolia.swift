extension HTTPPreset {
    /// Records with the user's id in one attribute, which must be in attributesForFaceting.
    ///
    /// A filter on another attribute finds nothing and says nothing, so the verification reads
    /// every record.
    static let algolia = HTTPPreset(
        "algolia",
        pages: [
            "www.algolia.com/doc/rest-api/search/delete-by",
            "algolia.com/doc/rest-api/search/delete-object",
            "www.algolia.com/doc/rest-api/search/browse",
        ],
        read: "2026-11-23",
        #"""
        [[target]]
        name = "algolia"
        kind = "http"
        key_credential = "algolia-key"
        [target.auth]
        scheme = "header"
        header = "X-Algolia-API-Key"
        [[target.erase]]
        name = "records"
        method = "POST"
        path = "/1/indexes/{index}/deleteByQuery"
        headers = { X-Algolia-Application-Id = "{application_id}" }
        json = { filters = "{attribute}:\"{user_id}\"" }
        effect = "repeatable"
        id = "/taskID"
        [[target.erase]]
        name = "task"
        method = "GET"
        path = "/1/indexes/{index}/task/{id}"
        headers = { X-Algolia-Application-Id = "{application_id}" }
        for_each = "records"
        until = { "/status" = "published" }
        every = "1s"
        [[target.verify]]
        name = "records"
        method = "POST"
        path = "/1/indexes/{index}/browse"
        headers = { X-Algolia-Application-Id = "{application_id}" }
        json = { attributesToRetrieve = ["{attribute}"], hitsPerPage = 1000, cursor = "{cursor}" }
        items = "/hits"
        id = "/objectID"
        match = { "/{attribute}" = "{user_id}" }
        next = "/cursor"
        """#
    )
}
