/// Takes user ids out of names.
enum UserMask {
    static let placeholder = "{user_id}"
    /// Parts of one name that are tried as an id.
    private static let triesMax = 8
    /// An id of so few characters is part of many a word.
    private static let shortMax = 3

    /// A name below a user's folder, without the id of that user.
    static func masked(_ name: String, _ id: String) -> String {
        var masked = ""
        var rest = name[...]
        for range in name.ranges(of: id) {
            let ends = [name[..<range.lowerBound].last, name[range.upperBound...].first]
            let isWord = !ends.contains { $0.map { $0.isLetter || $0.isNumber } ?? false }
            guard isWord || id.count > shortMax else { continue }
            masked += name[rest.startIndex..<range.lowerBound] + placeholder
            rest = name[range.upperBound...]
        }
        return masked + rest
    }

    /// Reads a name beside the users' that has the id of one of them.
    ///
    /// - Parameters:
    ///   - name: What is there.
    ///   - prefix: What stands before the id in the users' names.
    ///   - isUser: Whether somebody of that id is there.
    /// - Returns: What stands behind the id; `nil` when it has none.
    static func rest(
        of name: String,
        behind prefix: String,
        isUser: (String) -> Bool
    ) -> String? {
        guard name.hasPrefix(prefix) else { return nil }
        let own = name.dropFirst(prefix.count)
        // The longest first: an id may itself hold what separates.
        let ends = own.indices.filter { !own[$0].isLetter && !own[$0].isNumber } + [own.endIndex]
        let end = ends.reversed().prefix(triesMax).first {
            $0 > own.startIndex && isUser(String(own[..<$0]))
        }
        return end.map { String(own[$0...]) }
    }

    /// Whether such a rest is so plain that it names nobody: nothing, a slash, or `.webp`.
    static func isPlain(_ rest: String) -> Bool {
        let name = rest.hasSuffix("/") ? rest.dropLast() : rest[...]
        guard !name.isEmpty else { return true }
        return name.first == "." && (2...6).contains(name.count)
            && name.dropFirst().allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
