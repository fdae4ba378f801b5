extension HTTPPreset {
    /// Documents of Elasticsearch or OpenSearch with the user's id in one field of type keyword.
    ///
    /// A document that changes meanwhile is passed over, and found by the verification.
    static let elasticsearch = HTTPPreset(
        "elasticsearch",
        pages: [
            "www.elastic.co/guide/en/elasticsearch/reference/8.17/docs-delete-by-query.html",
            "www.elastic.co/guide/en/elasticsearch/reference/8.17/search-count.html",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "elasticsearch-password"
        [target.auth]
        scheme = "basic"
        username = "{username}"
        [[target.erase]]
        name = "documents"
        method = "POST"
        path = "/{index}/_delete_by_query"
        query = { conflicts = "proceed", refresh = "true" }
        json = { query = { bool = { filter = [{ term = { "{field}" = "{user_id}" } }] } } }
        effect = "repeatable"
        count = "/deleted"
        [[target.verify]]
        name = "documents"
        method = "POST"
        path = "/{index}/_count"
        json = { query = { bool = { filter = [{ term = { "{field}" = "{user_id}" } }] } } }
        count = "/count"
        """#
    )
}
