import Encoding
import Lifecycle

/// Goes through the pages of what a step finds.
struct HTTPPages {
    /// Of one user, and of one list of users.
    static let userPagesMax = 1_000
    /// Of a check at the start, which others wait for.
    static let startPagesMax = 10
    static let listPagesMax = PageWalk.pagesMax

    let step: HTTPStep
    let caller: HTTPCaller
    var values: HTTPValues
    private var link: String?
    /// Hashes of the cursors or links that were followed: a listing has up to ten million.
    private var seen: Set<Int> = []
    private var itemCount = 0
    /// Some thing had what `match` looks at.
    private var didFindFields = false

    init(_ step: HTTPStep, _ values: HTTPValues, _ caller: HTTPCaller) {
        self.step = step
        self.caller = caller
        self.values = values
        if case .number(let first)? = step.paging { self.values.page = first }
    }

    /// Calls `body` with the ids of each page, those of things that match, until it answers false.
    mutating func forEach(
        pagesMax: Int,
        _ body: ([String]) throws(HTTPFailure) -> Bool
    ) async throws(HTTPFailure) {
        for number in 0..<pagesMax {
            switch try await caller.send(step, values, link: link) {
            case .gone:
                // A cursor that has expired says nothing of the pages behind it.
                guard number == 0 || values.page != nil else {
                    throw .malformed("the list is gone before its end")
                }
                return try checkFields()
            case .done(let json, let header):
                let items = try items(json)
                itemCount += items.count
                guard try body(try ids(items)) else { return }
                guard try turn(json, items.isEmpty, header) else { return try checkFields() }
            }
        }
        throw .malformed("there are more pages than a listing can have")
    }

    private func items(_ json: JSONValue) throws(HTTPFailure) -> [JSONValue] {
        guard let pointer = step.items else { return [json] }
        switch pointer.value(in: json) {
        case .array(let items)?: return items
        // A failed query may answer null.
        default: throw .malformed("the answer has no list at 'items'")
        }
    }

    /// Where nothing has what `match` looks at, it looks at the wrong place, and nothing it says is
    /// worth anything.
    private func checkFields() throws(HTTPFailure) {
        guard itemCount == 0 || step.match.isEmpty || didFindFields else {
            throw .malformed("nothing that was found has what 'match' looks at")
        }
    }

    private mutating func ids(_ items: [JSONValue]) throws(HTTPFailure) -> [String] {
        var ids: [String] = []
        for item in items {
            if step.match.allSatisfy({ $0.pointer.value(in: item) != nil }) { didFindFields = true }
            var isMeant = true
            for condition in step.match where isMeant {
                // One value of a list would leave the thing, and say that nothing is left.
                switch condition.pointer.value(in: item) {
                case .array?, .object?:
                    throw .malformed("a thing that was found has a list or object at 'match'")
                default: isMeant = try condition.holds(in: item, values)
                }
            }
            guard isMeant else { continue }
            guard let pointer = step.id else {
                ids.append("")
                continue
            }
            // As a user id: neither empty nor long, without control characters.
            guard let id = pointer.value(in: item)?.plainText, UserID(id) != nil else {
                throw .malformed("a thing that was found has no usable id at 'id'")
            }
            ids.append(id)
        }
        return ids
    }

    /// Whether there is a next page, which is then the one to ask for.
    private mutating func turn(
        _ json: JSONValue,
        _ isEmpty: Bool,
        _ header: String?
    ) throws(HTTPFailure) -> Bool {
        guard let paging = step.paging else { return false }
        if let more = step.more {
            guard let value = more.value(in: json)?.bool else {
                throw .malformed("the answer has no true or false at 'more'")
            }
            guard value else { return false }
        }
        switch paging {
        case .number:
            guard !isEmpty, let page = values.page else { return false }
            values.page = page + 1
            return true
        case .cursor(let pointer):
            guard let next = pointer.value(in: json)?.plainText, !next.isEmpty else {
                // "More" without a way to it is an unfinished list.
                guard step.more == nil else { throw .malformed("the answer has no next cursor") }
                return false
            }
            try note(next)
            values.cursor = next
            return true
        case .link(let pointer):
            return try follow(pointer.value(in: json)?.string)
        case .linkHeader:
            return try follow(header.flatMap(Self.nextLink))
        }
    }

    private mutating func follow(_ next: String?) throws(HTTPFailure) -> Bool {
        guard let next, !next.isEmpty else { return false }
        let suffix = try caller.suffix(of: next)
        try note(suffix)
        link = suffix
        return true
    }

    /// A way that was gone before leads in a circle.
    private mutating func note(_ next: String) throws(HTTPFailure) {
        guard seen.insert(next.hashValue).inserted else {
            throw .malformed("the list does not move on")
        }
    }

    /// The target of the link whose relations name `next` (RFC 8288 §3).
    static func nextLink(_ header: String) -> String? {
        for part in header.split(separator: "<") {
            guard let end = part.firstIndex(of: ">") else { continue }
            let parameters = part[part.index(after: end)...].lowercased().split(separator: ";")
            let isNext = parameters.contains { parameter in
                let sides = parameter.split(separator: "=", maxSplits: 1)
                guard sides.count == 2, sides[0].filter({ $0 != " " }) == "rel" else {
                    return false
                }
                return sides[1].split(whereSeparator: { " \t\",".contains($0) }).contains("next")
            }
            if isNext { return String(part[..<end]) }
        }
        return nil
    }
}
