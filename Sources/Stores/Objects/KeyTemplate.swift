import Lifecycle

/// Where a user's objects are: a prefix that ends behind the user id, such as `users/{user_id}/`,
/// or one whole key, such as `avatars/{user_id}.png`.
struct KeyTemplate: Hashable, Sendable, CustomStringConvertible {
    /// The longest key (docs.aws.amazon.com/AmazonS3/latest/userguide/object-keys.html).
    static let byteCountMax = 1024

    let description: String
    /// Whether it stands for every key that begins with it.
    let isPrefix: Bool
    private let before: String
    private let after: String

    /// Reads a template.
    ///
    /// - Throws: ``MalformedTemplate`` for anything that could reach another user: the prefix
    ///   `users/{user_id}` would take the objects of user `12` for user `1`.
    init(_ text: String, isPrefix: Bool) throws(MalformedTemplate) {
        func malformed(_ requirement: String) -> MalformedTemplate {
            MalformedTemplate(text: text, requirement: requirement)
        }
        let parts = text.split(separator: "{user_id}", omittingEmptySubsequences: false)
        guard parts.count == 2, text.utf8.count <= Self.byteCountMax,
            text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f })
        else {
            throw malformed("contain {user_id} exactly once and no control characters")
        }
        guard
            !isPrefix || parts[1].first.map({ $0.isASCII && !$0.isLetter && !$0.isNumber }) == true
        else { throw malformed("have a separator such as '/' behind {user_id}") }
        description = text
        self.isPrefix = isPrefix
        before = String(parts[0])
        after = String(parts[1])
    }

    /// The key or prefix of a user; `nil` for an id that holds the separator, whose objects could
    /// not be told from another user's, and for one that no key can hold.
    func key(of user: UserID) -> String? {
        let id = user.exposeText()
        if isPrefix, let separator = after.utf8.first, id.utf8.contains(separator) { return nil }
        let key = before + id + after
        return key.utf8.count <= Self.byteCountMax ? key : nil
    }

    /// What ends the user id, in a listing that shows each user once; `nil` where each user has one
    /// key.
    var delimiter: String? { isPrefix ? after.first.map { String($0) } : nil }

    /// The user whose key this is, or what a listing by ``delimiter`` shows of theirs.
    func user(in name: String) -> UserID? {
        name.enclosed(by: before, delimiter ?? after).flatMap { UserID($0) }
            .flatMap { key(of: $0) == nil ? nil : $0 }
    }

    /// What all users' keys begin with.
    var root: String { before }

    /// Whether a key that a listing brought is a user's, byte for byte, and nobody else's.
    func holds(_ key: String, of own: String) -> Bool {
        guard isPrefix else { return key.utf8.elementsEqual(own.utf8) }
        return key.utf8.starts(with: own.utf8) && !isAmbiguous(key, of: own)
    }

    /// Whether a key with the user's prefix goes on with an empty name: `users/a//b` may be an
    /// object of the user `a/`.
    func isAmbiguous(_ key: String, of own: String) -> Bool {
        guard isPrefix, key.utf8.starts(with: own.utf8), let separator = own.utf8.last else {
            return false
        }
        return key.utf8.dropFirst(own.utf8.count).first == separator
    }

    /// The line of the receipt for such keys; `nil` for none.
    func ambiguousEntry(_ count: Int) -> PurgeCounts.Entry? {
        guard count > 0 else { return nil }
        return PurgeCounts.Entry(
            name: description,
            action: .passedOver(.emptyName),
            rowCount: count
        )
    }
}

// MARK: - The folder of the users

extension KeyTemplate {
    private static let slash = UInt8(ascii: "/")

    /// The folder in which names hold user ids: empty, or with a slash at the end.
    var folder: String { before.lastIndex(of: "/").map { String(before[...$0]) } ?? "" }

    /// What stands before the user id in those names.
    var prefix: String { String(before.dropFirst(folder.count)) }

    /// What stands behind it there; a folder's name has a slash at the end.
    private var end: Substring { after.firstIndex(of: "/").map { after[...$0] } ?? after[...] }

    /// Such a name, as a finding shows it.
    var nameThere: String { prefix + UserMask.placeholder + end }

    /// Whether it takes all that such a name stands for.
    var isWholeThere: Bool {
        end.endIndex == after.endIndex && (isPrefix || !after.contains("/"))
    }

    /// The folders behind such a name that it leads through; the first one is empty.
    var foldersBelow: [String] {
        let names = after[end.endIndex...].split(separator: "/").dropLast()
        return (0...names.count).map { names.prefix($0).map { $0 + "/" }.joined() }
    }

    /// Whose a name in the folder is; `nil` for one that is no user's.
    func owner(of name: String) -> String? {
        let (bytes, head) = (Array(name.utf8), Array(prefix.utf8))
        guard bytes.starts(with: head) else { return nil }
        let own = bytes.dropFirst(head.count)
        let id: ArraySlice<UInt8>
        if isPrefix, !after.contains("/") {
            // Anything may follow.
            guard let found = own.firstRange(of: Array(after.utf8)) else { return nil }
            id = own[..<found.lowerBound]
        } else {
            guard own.suffix(end.utf8.count).elementsEqual(end.utf8) else { return nil }
            id = own.dropLast(end.utf8.count)
        }
        guard !id.isEmpty, !id.contains(Self.slash) else { return nil }
        return String(validating: id, as: UTF8.self)
    }

    /// The key or prefix of a user whose name was found.
    func key(ofOwner id: String) -> String { before + id + after }
}
