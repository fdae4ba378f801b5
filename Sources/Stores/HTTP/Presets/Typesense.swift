extension HTTPPreset {
    /// Documents with the user's id in one field.
    ///
    /// A filter on a text compares tokens, without case and most marks, so what it finds is
    /// compared and deleted by its own id.
    static let typesense = HTTPPreset(
        "typesense",
        pages: [
            "typesense.org/docs/29.0/api/documents.html",
            "typesense.org/docs/guide/tips-for-filtering.html",
        ],
        read: "2026-11-23",
        #"""
        key_credential = "typesense-key"
        [target.auth]
        scheme = "header"
        header = "X-TYPESENSE-API-KEY"
        [[target.erase]]
        name = "found"
        method = "GET"
        path = "/collections/{collection}/documents/search"
        items = "/hits"
        id = "/document/id"
        match = { "/document/{field}" = "{user_id}" }
        [target.erase.query]
        q = "*"
        filter_by = "{field}:=`{user_id}`"
        per_page = "250"
        page = "{page}"
        [[target.erase]]
        name = "documents"
        method = "DELETE"
        path = "/collections/{collection}/documents/{id}"
        for_each = "found"
        gone = [404]
        gone_if = { "/message" = "Could not find a document with id: {id}" }
        [[target.verify]]
        name = "documents"
        method = "GET"
        path = "/collections/{collection}/documents/search"
        items = "/hits"
        id = "/document/id"
        match = { "/document/{field}" = "{user_id}" }
        [target.verify.query]
        q = "*"
        filter_by = "{field}:=`{user_id}`"
        per_page = "250"
        page = "{page}"
        """#
    )
}
