extension PathRules {
    /// Keys of the tree (firebase.google.com/docs/database/usage/limits, "Data tree").
    static let realtimeDatabase = PathRules(
        allows: { name in
            name.utf8.count <= 768
                && !name.utf8.contains { $0 < 0x20 || $0 == 0x7f || ".$#[]".utf8.contains($0) }
        }
    )
}
