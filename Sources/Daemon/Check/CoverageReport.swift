import Engine
import Lifecycle
import Stores

/// What a check of one store reports of data that no rule deals with.
///
/// Each finding is reported once: by the first of the stores that work in one database, and not
/// as advice besides.
struct CoverageReport: Equatable {
    /// More than a person reads.
    private static let questionsMax = 1000

    /// Looks like user data that no rule deals with, or keeps deletions from ever ending.
    let unmapped: [CoverageFinding]
    /// Places of which nothing, or only a part, was read.
    let sampled: [CoverageFinding]
    /// What an operator should know besides.
    let advice: [String]

    /// `reported` is what checks of earlier stores of the same database report.
    init(
        _ found: [CoverageFinding],
        _ inspected: StoreFindings,
        reported: [CoverageFinding] = []
    ) {
        let key = { (finding: CoverageFinding) in
            "\(finding.isCovered) \(finding.isSample) \(finding.name)"
        }
        let old = Set(reported.map(key))
        let isNew = { (finding: CoverageFinding) in !old.contains(key(finding)) }
        let blocking = inspected.uncovered.filter { !$0.isSample }
        let open = found.filter { finding in
            !finding.isCovered && isNew(finding) && !blocking.contains { $0.name == finding.name }
        }
        // Advice about a column has the rule that it needs.
        let unmapped =
            blocking.filter(isNew)
            + open.map { finding in
                inspected.advice.first { $0.column == finding.name }
                    .map { .open(finding.name, $0.text) } ?? finding
            }
        sampled = (inspected.uncovered + found).filter { $0.isSample && isNew($0) }
        let known = blocking.filter { !isNew($0) }.map(\.reason)
        advice =
            known
            + inspected.advice.filter { advice in
                !unmapped.contains { $0.name == advice.column }
            }
            .map(\.text)
        self.unmapped = unmapped
    }

    /// What a person is asked, see ``CoverageFinding/question``; what is more than a person reads
    /// is counted.
    var questions: [CoverageFinding] {
        let asked = unmapped.questions(by: \.question).map { group in
            guard group.count > 1, let question = group[0].question else { return group[0] }
            return CoverageFinding.open(group.map(\.name).joined(separator: ", "), question.reason)
        }
        let restCount = asked.count - Self.questionsMax
        guard restCount > 0 else { return asked }
        return asked.prefix(Self.questionsMax)
            + [CoverageFinding.open("\(restCount) more", "named once those above have a rule")]
    }
}

extension DaemonConfiguration {
    /// The stores above this one that work in the same database and name its tables alike.
    func earlierStores(inDatabaseOf store: StoreConfiguration) -> [StoreConfiguration] {
        guard let tables = store.settings as? any TableKind else { return [] }
        return stores.prefix { $0.name != store.name }.filter { earlier in
            guard let other = earlier.settings as? any TableKind else { return false }
            return tables.sharesDatabase(with: other) && tables.naming == other.naming
        }
    }

    /// One sentence where a store, or a part of it, has no time cutoff.
    fileprivate func cutoffAdvice(_ store: StoreConfiguration) -> [String] {
        guard let withoutTimestamps = withoutTimestamps(store) else { return [] }
        let remedy =
            (store.settings.cutoff.remedy.map { $0 + ", or " } ?? "") + "never give an id again"
        return [
            "there is no time cutoff (\(withoutTimestamps)): what is newer than a request goes with"
                + " it, also that of a later account with the same id; \(remedy)"
        ]
    }
}

/// What a check of a store found, in sentences.
struct CheckedStore {
    /// What keeps it from its work, or from being searched.
    var findings: [String] = []
    /// Nothing forbids to purge there.
    private(set) var isSetUp = true
    private(set) var advice: [String]?
    /// `nil` where a store cannot be searched.
    private(set) var uncovered: [String]?
    private(set) var sampled: [String]?
    private(set) var unexamined: [String]?
    /// `nil` where none was made.
    private(set) var search: ErasureScope.Search?

    init() {}

    /// Asks the store, and searches it for data that no rule deals with.
    init(
        _ store: StoreConfiguration,
        _ adapter: any PurgeStore,
        _ adapters: Adapters,
        at time: WallTime
    ) async {
        let inspected = await adapter.inspect(withOutages: true)
        findings = inspected.problems.map(\.description)
        isSetUp = inspected.problems.isEmpty
        var found: [CoverageFinding]?
        switch await (adapter.unwrapped as? any CoverageSearching)?.coverage() {
        case .findings(let findings)?: found = findings
        case .failure(let failure)?:
            // Silence would pass for "nothing was found".
            findings.append("it cannot be looked through for user data: \(failure.code)")
        case nil: break
        }
        let open = inspected.uncovered + (found ?? []).filter { !$0.isCovered || $0.isSample }
        let reported = open.isEmpty ? [] : await Self.reported(before: store, adapters)
        let report = CoverageReport(found ?? [], inspected, reported: reported)
        advice = report.advice + adapters.configuration.cutoffAdvice(store)
        let unmapped = report.questions.map { "\($0.name): \($0.reason)" }
        uncovered = found == nil && unmapped.isEmpty ? nil : unmapped
        // Neither rests on a search of another store that is not recorded.
        let whole = CoverageReport(found ?? [], inspected)
        search = found.map { _ in ErasureScope.Search(whole, in: store, at: time) }
        sampled = Self.texts(report.sampled.filter { !$0.isUnread })
        unexamined = Self.texts(whole.sampled.filter(\.isUnread))
    }

    private static func texts(_ places: [CoverageFinding]) -> [String]? {
        places.isEmpty ? nil : places.map { "\($0.name): \($0.reason)" }
    }

    /// What checks of the earlier stores of the same database report.
    private static func reported(
        before store: StoreConfiguration,
        _ adapters: Adapters
    ) async -> [CoverageFinding] {
        var reported: [CoverageFinding] = []
        for earlier in adapters.configuration.earlierStores(inDatabaseOf: store) {
            guard let adapter = adapters.stores[earlier.name] else { continue }
            reported += await adapter.inspect(withOutages: true).uncovered
            let searching = adapter.unwrapped as? any CoverageSearching
            guard case .findings(let found)? = await searching?.coverage() else { continue }
            reported += found
        }
        return reported
    }
}
