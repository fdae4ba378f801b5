/// Takes user ids out of names.
enum UserMask {
    static let placeholder = "{user_id}"
    /// Parts of one name that are tried as an id.
    private static let triesMax = 8
    /// Where a part of a name may begin or end; a name with more of these is taken to
    /// have an id.
    private static let cutsMax = 32
    /// An id of so few characters is part of many a word.
    private static let shortMax = 3

    /// A name below a user's folder, without the id of that user.
    static func masked(_ name: String, _ id: String) -> String {
        var masked = ""
        var rest = name[...]
        for range in name.ranges(of: id) {
            let ends = [name[..<range.lowerBound].last, name[range.upperBound...].first]
            let isAlone = !ends.contains { $0.map(isWord) ?? false }
            guard isAlone || id.count > shortMax else { continue }
            masked += name[rest.startIndex..<range.lowerBound] + placeholder
            rest = name[range.upperBound...]
        }
        return masked + rest
    }

    /// What stands behind the id of a user in a name beside the users'; `nil` when it has none.
    static func rest(
        of name: String,
        behind prefix: String,
        isUser: (String) -> Bool
    ) -> String? {
        guard name.hasPrefix(prefix) else { return nil }
        let own = name.dropFirst(prefix.count)
        // The longest first: an id may itself hold what separates.
        let ends = own.indices.filter { !isWord(own[$0]) } + [own.endIndex]
        let end = ends.reversed().prefix(triesMax).first {
            $0 > own.startIndex && isUser(String(own[..<$0]))
        }
        return end.map { String(own[$0...]) }
    }

    /// Whether a name has a user's id besides the one that the placeholder stands for; also true
    /// for a name of more words than are tried.
    static func hasOther(_ name: String, isUser: (String) -> Bool) -> Bool {
        name.split(separator: placeholder).contains { part in
            let cuts =
                part.indices.filter { index in
                    guard index > part.startIndex else { return true }
                    return !isWord(part[index]) || !isWord(part[part.index(before: index)])
                } + [part.endIndex]
            guard cuts.count <= cutsMax else { return true }
            return cuts.indices.contains { first in
                cuts[(first + 1)...].contains { end in
                    let id = part[cuts[first]..<end]
                    return id.contains(where: isWord) && isUser(String(id))
                }
            }
        }
    }

    private static func isWord(_ character: Character) -> Bool {
        character.isLetter || character.isNumber
    }

    /// Whether such a rest is so plain that it names nobody: nothing, a slash, or `.webp`.
    static func isPlain(_ rest: String) -> Bool {
        let name = rest.hasSuffix("/") ? rest.dropLast() : rest[...]
        guard !name.isEmpty else { return true }
        return name.first == "." && (2...6).contains(name.count)
            && name.dropFirst().allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
