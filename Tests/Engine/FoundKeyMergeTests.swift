import Engine
import Lifecycle
import Testing

struct FoundKeyMergeTests {
    private static let customer = KeyName(store: Sample.database, key: "customer")
    private static let folder = KeyName(store: Sample.database, key: "folder")
    private static let open = Sample.request(1)
    private static let ended = Sample.request(2)

    private static func keys(
        _ ids: [String],
        _ name: KeyName = customer,
        of request: RequestID = open,
        isOwn: Bool = true
    ) -> FoundKeys {
        FoundKeys(request: request, name: name, ids: ids.compactMap { UserID($0) }, isOwn: isOwn)
    }

    /// A row as `request name: ids`.
    private static func text(_ keys: FoundKeys) -> String {
        let ids = keys.ids.map { $0.exposeText() }.sorted().joined(separator: " ")
        let request = keys.request == open ? "open" : "ended"
        return "\(request) \(keys.name.key)\(keys.isOwn ? "" : ", shared"): \(ids)"
    }

    @Test(
        "a row counts for what adds to it or reads it",
        arguments: [
            (FoundKeyMerge.all, [true, true, true, true]),
            (.late, [false, true, false, true]),
            (.found(open: [open]), [true, false, false, true]),
            (.found(open: []), [false, true, false, true]),
            (.reopened, [true, false, true, false]),
        ]
    )
    func counts(_ merge: FoundKeyMerge, _ expected: [Bool]) {
        let counted = [Self.open, Self.ended].flatMap { request in
            [false, true].map { merge.counts(isLate: $0, of: request) }
        }
        #expect(counted == expected)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var found: [FoundKeys] = []
        var rows: [FoundKeys] = []
        var merge = FoundKeyMerge.found(open: [open])
        let added: [String]

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "nothing", added: []),
        Case(name: "new ids", found: [keys(["a", "b"])], added: ["open customer: a b"]),
        Case(name: "no id, and no row yet", found: [keys([])], added: ["open customer: "]),
        Case(name: "no id, and an empty row", found: [keys([])], rows: [keys([])], added: []),
        Case(name: "known ids", found: [keys(["a"])], rows: [keys(["a", "b"])], added: []),
        Case(
            name: "a new id beside known ones of two rows",
            found: [keys(["a", "b", "c"])],
            rows: [keys(["a"]), keys(["c"])],
            added: ["open customer: b"]
        ),
        Case(
            name: "the same id twice",
            found: [keys(["a"]), keys(["a", "b"])],
            added: ["open customer: a b"]
        ),
        Case(
            name: "an id known under another name, or of another request",
            found: [keys(["a"])],
            rows: [keys(["a"], folder), keys(["a"], of: ended)],
            added: ["open customer: a"]
        ),
        Case(
            name: "a row for each name and request",
            found: [keys(["a"]), keys(["a"], folder), keys(["b"], of: ended)],
            added: ["ended customer: b", "open customer: a", "open folder: a"]
        ),
        Case(
            name: "ids that others may own",
            found: [keys(["a"], isOwn: false)],
            added: ["open customer, shared: a"]
        ),
        Case(
            name: "ids that others may own beside own ones",
            found: [keys(["a"], isOwn: false), keys(["b"])],
            added: ["open customer: a b"]
        ),
        Case(
            name: "ids of a reopened record, which leave no tombstones",
            found: [keys(["a"])],
            merge: .reopened,
            added: ["open customer, shared: a"]
        ),
    ]

    @Test("only new ids are added, and a first row even without any", arguments: cases)
    func added(_ given: Case) {
        let added = given.merge.added(given.found, besides: given.rows)
        #expect(added.map(Self.text).sorted() == given.added)
    }

    @Test func `no row is no answer, and an empty row is one`() {
        #expect(FoundKeyMerge.ids(of: []) == nil)
        #expect(FoundKeyMerge.ids(of: [Self.keys([])]) == [])
        let ids = FoundKeyMerge.ids(of: [Self.keys(["b", "a"]), Self.keys(["a"])])
        #expect(ids == ["a", "b"].compactMap { UserID($0) })
    }
}
