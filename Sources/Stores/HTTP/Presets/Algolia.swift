extension HTTPPreset {
    /// Records with the user's id in one attribute, which must be in attributesForFaceting.
    ///
    /// Whether a filter ignores case is not documented, so what it finds is compared and deleted by
    /// its own id.
    /// A filter on another attribute finds nothing and says nothing, so the verification reads
    /// every record.
    static let algolia = HTTPPreset(
        "algolia",
        pages: [
            "algolia.com/doc/rest-api/search/delete-object",
            "www.algolia.com/doc/rest-api/search/browse",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "algolia-key"
        [target.auth]
        scheme = "header"
        header = "X-Algolia-API-Key"
        [[target.erase]]
        name = "found"
        method = "POST"
        path = "/1/indexes/{index}/browse"
        headers = { X-Algolia-Application-Id = "{application_id}" }
        effect = "reads"
        items = "/hits"
        id = "/objectID"
        match = { "/{attribute}" = "{user_id}" }
        next = "/cursor"
        [target.erase.json]
        filters = "{attribute}:\"{user_id}\""
        attributesToRetrieve = ["{attribute}"]
        hitsPerPage = 1000
        cursor = "{cursor}"
        [[target.erase]]
        name = "records"
        method = "DELETE"
        path = "/1/indexes/{index}/{id}"
        headers = { X-Algolia-Application-Id = "{application_id}" }
        for_each = "found"
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
