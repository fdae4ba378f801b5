import Lifecycle

/// A path of names in which one holds the user id, such as `users/{user_id}`.
struct UserPath: Hashable, Sendable, CustomStringConvertible {
    /// Whose rules the names follow.
    enum Store: Sendable {
        /// Collections and documents in turn.
        case firestore
        case realtimeDatabase

        /// firebase.google.com/docs/firestore/quotas, "Collections, documents, and fields";
        /// firebase.google.com/docs/database/usage/limits, "Data tree".
        func accepts(_ name: String) -> Bool {
            let bytes = Array(name.utf8)
            guard !bytes.isEmpty, !bytes.contains(UInt8(ascii: "/")) else { return false }
            switch self {
            case .firestore:
                let isReserved = bytes.count >= 4 && name.hasPrefix("__") && name.hasSuffix("__")
                return bytes.count <= 1500 && name != "." && name != ".." && !isReserved
            case .realtimeDatabase:
                return bytes.count <= 768 && !bytes.contains(where: Self.isForbidden)
            }
        }

        private static func isForbidden(_ byte: UInt8) -> Bool {
            switch byte {
            case 0..<0x20, 0x7f: true
            case UInt8(ascii: "."), UInt8(ascii: "$"), UInt8(ascii: "#"): true
            case UInt8(ascii: "["), UInt8(ascii: "]"): true
            default: false
            }
        }
    }

    let description: String
    /// What stands in front of the name with the user id.
    let root: [String]
    private let store: Store
    /// What stands in front of the user id in the name that holds it.
    let before: String
    private let after: String
    /// What stands behind the name with the user id.
    let rest: [String]

    /// Reads a path.
    ///
    /// - Throws: ``MalformedTemplate``.
    init(_ text: String, in store: Store) throws(MalformedTemplate) {
        let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let places = names.indices.filter { names[$0].contains("{user_id}") }
        guard places.count == 1 else {
            throw MalformedTemplate(text: text, requirement: "have one name that holds {user_id}")
        }
        let parts = names[places[0]].split(
            separator: "{user_id}",
            omittingEmptySubsequences: false
        )
        guard parts.count == 2 else {
            throw MalformedTemplate(text: text, requirement: "hold {user_id} once")
        }
        guard names.allSatisfy({ store.accepts($0.replacing("{user_id}", with: "x")) }) else {
            throw MalformedTemplate(
                text: text,
                requirement: "be names that the database accepts, with '/' between"
            )
        }
        if case .firestore = store, !names.count.isMultiple(of: 2) {
            throw MalformedTemplate(
                text: text,
                requirement: "lead to a document: collection, document, and so on"
            )
        }
        description = text
        self.store = store
        root = Array(names[..<places[0]])
        before = String(parts[0])
        after = String(parts[1])
        rest = Array(names[(places[0] + 1)...])
    }

    /// The names for one user by each of some paths.
    ///
    /// - Throws: ``CallFailure`` for an id that no name can hold.
    static func owned(
        _ paths: [UserPath],
        by user: UserID
    ) throws(CallFailure) -> [(path: UserPath, names: [String])] {
        let owned = paths.compactMap { path in path.names(of: user).map { (path, $0) } }
        guard owned.count == paths.count else { throw CallFailure(.unusable) }
        return owned
    }

    /// The name with the user id.
    var pattern: String { before + "{user_id}" + after }

    /// The user whose name stands behind ``root``.
    func user(in name: String) -> UserID? {
        let bytes = Array(name.utf8)
        guard bytes.count > before.utf8.count + after.utf8.count, bytes.starts(with: before.utf8),
            bytes.suffix(after.utf8.count).elementsEqual(after.utf8)
        else { return nil }
        let id = String(
            validating: bytes[before.utf8.count..<(bytes.count - after.utf8.count)],
            as: UTF8.self
        )
        return id.flatMap { UserID($0) }.flatMap { names(of: $0) == nil ? nil : $0 }
    }

    /// The names for one user; `nil` for an id that no name can hold, and for one that would name
    /// another place.
    func names(of user: UserID) -> [String]? {
        let id = user.exposeText()
        let name = before + id + after
        guard !id.utf8.contains(UInt8(ascii: "/")), store.accepts(name) else { return nil }
        return root + [name] + rest
    }
}
