import Encoding

/// One call of a store of kind "http": how it is made, and what its answer means.
struct HTTPStep: Hashable, Sendable {
    /// What making the call again does.
    enum Effect: String, Sendable, CaseIterable {
        /// It changes nothing.
        case reads
        /// It changes nothing more.
        case repeatable
        /// It starts something anew, so ``HTTPStep/unless`` says what prevents it.
        case once
        /// It changes nothing and asks for no user: its success proves that address, account and
        /// secret are the right ones, so that a 404 of another step is about the user.
        case proves

        var changes: Bool {
            switch self {
            case .reads, .proves: false
            case .repeatable, .once: true
            }
        }
    }

    /// What is sent behind the head.
    enum Body: Hashable, Sendable {
        case none
        case json(HTTPJSON)
        case form([Field])
    }

    /// A name and its value.
    struct Field: Hashable, Sendable {
        let name: String
        let value: HTTPTemplate
    }

    /// What stands at a place of an answer.
    struct Condition: Hashable, Sendable {
        let pointer: JSONPointer
        let value: HTTPTemplate

        /// - Throws: ``HTTPFailure`` for a value that cannot be filled.
        func holds(in json: JSONValue, _ values: HTTPValues) throws(HTTPFailure) -> Bool {
            guard let found = pointer.value(in: json)?.plainText else { return false }
            return found.utf8.elementsEqual(try value.fill(values, .field).utf8)
        }
    }

    /// How the next page is asked for.
    enum Paging: Hashable, Sendable {
        /// By what stands there in the answer, as `{cursor}`.
        case cursor(JSONPointer)
        /// By its number, as `{page}`.
        case number(first: Int)
        /// By the URL that stands there.
        case link(JSONPointer)
        /// By the URL of the header `Link` with `rel="next"` (RFC 8288).
        case linkHeader
    }

    let name: String
    let method: Method
    let path: HTTPTemplate
    var query: [Field] = []
    var headers: [Field] = []
    var body = Body.none
    var effect: Effect
    /// The step whose ids it is made for, one call each.
    var forEach: String?
    /// The step that must have found nothing.
    var unless: String?
    var status: Set<Int> = HTTPStep.statusDefault
    var gone: Set<Int> = []
    var goneIf: [Condition] = []
    /// Where the list of found things is; `nil` without one.
    var items: JSONPointer?
    /// Where the id is in each of them, or in the answer.
    var id: JSONPointer?
    var match: [Condition] = []
    var paging: Paging?
    /// Whether there is a next page.
    var more: JSONPointer?
    var count: JSONPointer?
    /// Asked again until all hold.
    var until: [Condition] = []
    var fails: [Condition] = []
    var every = Duration.seconds(10)
    /// Until when the server promises to have done it.
    var promised: Duration?
    /// What the server keeps nevertheless.
    var keeps: String?

    /// Of HTTP that are used with resources.
    enum Method: String, Sendable, CaseIterable {
        case get = "GET"
        case head = "HEAD"
        case post = "POST"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"
    }

    static let statusDefault: Set<Int> = [200, 201, 202, 204]

    /// Whether it looks for ids.
    var finds: Bool { items != nil || id != nil }
    /// Whether it waits for a job.
    var polls: Bool { !until.isEmpty }

    var needsJSON: Bool {
        finds || polls || count != nil || more != nil || !match.isEmpty || !fails.isEmpty
    }

    /// Every text that calls fill, and where it goes.
    var templates: [(text: HTTPTemplate, key: String)] {
        var all = [(path, "path")]
        all += query.map { ($0.value, "query") } + headers.map { ($0.value, "headers") }
        switch body {
        case .none: break
        case .json(let json):
            all += json.templates.map { ($0, "json") } + json.names.map { ($0, "json name") }
        case .form(let fields): all += fields.map { ($0.value, "form") }
        }
        all += (match + until + fails + goneIf).map { ($0.value, "match") }
        return all
    }
}

/// A JSON value whose strings have placeholders.
indirect enum HTTPJSON: Hashable, Sendable {
    struct Member: Hashable, Sendable {
        let name: HTTPTemplate
        let value: HTTPJSON
    }

    case fixed(JSONValue)
    case text(HTTPTemplate)
    case list([HTTPJSON])
    case object([Member])

    init(_ json: JSONValue) {
        self =
            switch json {
            case .null, .bool, .integer, .number: .fixed(json)
            case .string(let text): .text(HTTPTemplate(text))
            case .array(let items): .list(items.map { HTTPJSON($0) })
            case .object(let members):
                .object(
                    members.map { Member(name: HTTPTemplate($0.name), value: HTTPJSON($0.value)) }
                )
            }
    }

    var templates: [HTTPTemplate] {
        switch self {
        case .fixed: []
        case .text(let text): [text]
        case .list(let items): items.flatMap(\.templates)
        case .object(let members): members.flatMap(\.value.templates)
        }
    }

    var names: [HTTPTemplate] {
        switch self {
        case .fixed, .text: []
        case .list(let items): items.flatMap(\.names)
        case .object(let members): members.flatMap { [$0.name] + $0.value.names }
        }
    }

    /// The value of a call; `nil` where it is a cursor and the call has none.
    func fill(_ values: HTTPValues) throws(HTTPFailure) -> JSONValue? {
        switch self {
        case .fixed(let json): return json
        case .text(let text):
            if text.whole == .cursor, values.cursor == nil { return nil }
            if text.whole == .page, let page = values.page { return .integer(Int64(page)) }
            return .string(try text.fill(values, .field))
        case .list(let items):
            var filled: [JSONValue] = []
            for item in items { if let value = try item.fill(values) { filled.append(value) } }
            return .array(filled)
        case .object(let members):
            var filled: [JSONValue.Member] = []
            for member in members {
                guard let value = try member.value.fill(values) else { continue }
                filled.append(JSONValue.Member(try member.name.fill(values, .field), value))
            }
            return .object(filled)
        }
    }
}
