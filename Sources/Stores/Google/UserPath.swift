import Lifecycle

/// A path of names in which one holds the user id, such as `users/{user_id}`.
struct UserPath: Hashable, Sendable, CustomStringConvertible {
    let description: String
    /// What stands in front of the name with the user id.
    let root: [String]
    private let rules: PathRules
    /// What stands in front of the user id in the name that holds it.
    let before: String
    private let after: String
    /// What stands behind the name with the user id.
    let rest: [String]

    init(_ text: String, in rules: PathRules) throws(MalformedTemplate) {
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
        guard names.allSatisfy({ rules.accepts($0.replacing("{user_id}", with: "x")) }) else {
            throw MalformedTemplate(
                text: text,
                requirement: "be names that the database accepts, with '/' between"
            )
        }
        if let requirement = rules.unmet(names) {
            throw MalformedTemplate(text: text, requirement: requirement)
        }
        description = text
        self.rules = rules
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

    /// Whether both have one text; a kind of store has one set of rules.
    static func == (one: Self, two: Self) -> Bool { one.description == two.description }

    func hash(into hasher: inout Hasher) { hasher.combine(description) }

    /// The name with the user id.
    var pattern: String { before + "{user_id}" + after }

    /// The user whose name stands behind ``root``.
    func user(in name: String) -> UserID? {
        name.enclosed(by: before, after).flatMap { UserID($0) }
            .flatMap { names(of: $0) == nil ? nil : $0 }
    }

    /// The names for one user; `nil` for an id that no name can hold, and for one that would name
    /// another place.
    func names(of user: UserID) -> [String]? {
        let id = user.exposeText()
        let name = before + id + after
        guard !id.utf8.contains(UInt8(ascii: "/")), rules.accepts(name) else { return nil }
        return root + [name] + rest
    }
}

/// What a database accepts as a path of names.
struct PathRules: Sendable {
    /// Whether it accepts a name, which is not empty and has no '/'.
    let allows: @Sendable (String) -> Bool
    /// What a path of accepted names must do and does not; `nil` when it fits.
    var unmet: @Sendable (_ names: [String]) -> String? = { _ in nil }

    func accepts(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/")) && allows(name)
    }
}
