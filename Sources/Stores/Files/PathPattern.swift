import Glibc
internal import Lifecycle

/// Where a user's files are below the root: names, wildcards, and the user id as one name.
///
/// `avatars/{user_id}.png`, `*/{user_id}`, `mail/{user_id}/inbox`. The user id stands for itself
/// and never beside a wildcard: `{user_id}*` would take the files of user `12` for user `1`.
package struct PathPattern: Hashable, Sendable, CustomStringConvertible {
    /// One step of the way.
    enum Step: Hashable, Sendable {
        case name(String)
        case wildcard(String)
        case user(prefix: String, suffix: String)

        var isUser: Bool { if case .user = self { true } else { false } }

        /// Whether a name can stand there, of whichever user.
        func fits(_ name: String) -> Bool {
            switch self {
            case .name(let wanted): wanted == name
            case .wildcard(let wildcard): PathPattern.matches(name, wildcard: wildcard)
            // Byte for byte, as the purge writes it.
            case .user(let prefix, let suffix): name.enclosed(by: prefix, suffix) != nil
            }
        }
    }

    /// Names deeper than this are no layout of user data that we know of.
    static let stepsMax = 16
    private static let placeholder = "{user_id}"

    package let description: String
    let steps: [Step]

    /// Reads a pattern.
    ///
    /// - Throws: ``MalformedTemplate`` for anything that could reach outside of the root or another
    ///   user.
    package init(_ text: String) throws(MalformedTemplate) {
        let names = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard names.count <= Self.stepsMax else {
            throw MalformedTemplate(text: text, requirement: "have at most \(Self.stepsMax) names")
        }
        let steps = try names.map { name throws(MalformedTemplate) in try Self.step(name) }
        guard steps.count(where: \.isUser) == 1 else {
            throw MalformedTemplate(text: text, requirement: "contain {user_id} exactly once")
        }
        description = text
        self.steps = steps
    }

    private static func step(_ name: String) throws(MalformedTemplate) -> Step {
        guard !name.isEmpty, name != ".", name != "..", name.utf8.count <= 255,
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else {
            throw MalformedTemplate(
                text: name,
                requirement: "be relative to the root, without '.', '..', empty names and control"
                    + " characters"
            )
        }
        let parts = name.split(separator: placeholder, omittingEmptySubsequences: false)
        let isWildcard = name.contains { "*?[\\".contains($0) }
        if parts.count == 1 { return isWildcard ? .wildcard(name) : .name(name) }
        guard parts.count == 2, !isWildcard else {
            throw MalformedTemplate(text: name, requirement: "have no wildcard beside {user_id}")
        }
        return .user(prefix: String(parts[0]), suffix: String(parts[1]))
    }

    /// Whether these names stand on the way to what it leads to, or inside of that.
    func leads(through names: [String]) -> Bool {
        zip(steps, names).allSatisfy { $0.fits($1) }
    }

    /// The file name that stands for a user; `nil` when no file can have it.
    ///
    /// A user id is whatever the application's users can bring it to be: with a slash or as `..` it
    /// would lead elsewhere.
    static func fileName(of user: UserID, prefix: String, suffix: String) -> String? {
        let id = user.exposeText()
        let name = prefix + id + suffix
        // By bytes: with a combining character behind it a slash is another Character, and to the
        // kernel a slash all the same.
        guard !id.utf8.contains(UInt8(ascii: "/")), !id.utf8.contains(0), name != ".", name != "..",
            name != FilesStore.sentinel, name.utf8.count <= 255
        else { return nil }
        return name
    }

    /// Whether a name fits a wildcard (fnmatch(3)); a leading dot is not matched by `*`.
    static func matches(_ name: String, wildcard: String) -> Bool {
        unsafe fnmatch(wildcard, name, FNM_PERIOD | FNM_NOESCAPE) == 0
    }

    /// Whether it would fit but for its leading dot.
    static func isHidden(_ name: String, from wildcard: String) -> Bool {
        guard name.hasPrefix("."), !matches(name, wildcard: wildcard) else { return false }
        return unsafe fnmatch(wildcard, name, FNM_NOESCAPE) == 0
    }
}
