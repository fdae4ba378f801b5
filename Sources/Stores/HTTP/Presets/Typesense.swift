extension HTTPPreset {
    /// Documents with the user's id in one field.
    static let typesense = HTTPPreset(
        "typesense",
        pages: [
            "typesense.org/docs/0.20.0/api/documents.html"
        ],
        read: "2026-11-23",
        #"""
        [[target]]
        name = "typesense"
        kind = "http"
        key_credential = "typesense-key"
        [target.auth]
        scheme = "header"
        header = "X-TYPESENSE-API-KEY"
        [[target.erase]]
        name = "documents"
        method = "DELETE"
        path = "/collections/{collection}/documents"
        query = { filter_by = "{field}:=`{user_id}`" }
        count = "/num_deleted"
        [[target.verify]]
        name = "documents"
        method = "GET"
        path = "/collections/{collection}/documents/search"
        query = { q = "*", filter_by = "{field}:=`{user_id}`", per_page = "1" }
        count = "/found"
        """#
    )
}
