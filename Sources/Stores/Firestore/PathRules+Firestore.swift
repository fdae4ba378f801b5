extension PathRules {
    /// Collections and documents in turn
    /// (firebase.google.com/docs/firestore/quotas, "Collections, documents, and fields").
    static let firestore = PathRules(
        allows: { name in
            let isReserved = name.utf8.count >= 4 && name.hasPrefix("__") && name.hasSuffix("__")
            return name.utf8.count <= 1500 && name != "." && name != ".." && !isReserved
        },
        unmet: { names in
            names.count.isMultiple(of: 2)
                ? nil : "lead to a document: collection, document, and so on"
        }
    )
}
