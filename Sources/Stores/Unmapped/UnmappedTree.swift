import Lifecycle

/// Looks through a tree of names for some that no rule leads to, level by level.
///
/// It goes down the names that rules have. Where one stands for users, or for any document, there
/// may be millions: it looks into some of them, and tells so. A name above all users is told as it
/// is; below and beside them by ``UnmappedCounter``, without their ids.
struct UnmappedTree {
    /// One name of a rule.
    enum Step {
        case name(String)
        /// It holds the user id.
        case user(UserPath)
        case any

        func fits(_ name: String) -> Bool {
            switch self {
            case .name(let text): text == name
            case .user(let path): path.user(in: name) != nil
            case .any: true
            }
        }

        func user(in name: String) -> String? {
            if case .user(let path) = self { path.user(in: name)?.exposeText() } else { nil }
        }

        /// As a finding shows it.
        var text: String {
            switch self {
            case .name(let text): text
            case .user(let path): path.pattern
            case .any: "*"
            }
        }
    }

    /// The names that lead to what is purged.
    struct Rule {
        var steps: ArraySlice<Step>
        /// Whether what is below goes along.
        let takesAllBelow: Bool

        init(_ steps: [Step], takesAllBelow: Bool) {
            self.steps = steps[...]
            self.takesAllBelow = takesAllBelow
        }

        init(_ path: UserPath) {
            let names = path.root.map { Step.name($0) }
            self.init(names + [.user(path)] + path.rest.map { .name($0) }, takesAllBelow: true)
        }
    }

    /// The names at one place, and whether these are all.
    struct Level {
        var names: [String] = []
        var isWhole = true
    }

    /// What has the names below it: a user, or a document that may be named after one.
    private struct Owner {
        let name: String
        let ids: [String]
        /// Those of all who are beside.
        let known: Set<String>
    }

    /// Users, or documents, that are looked into at one place.
    static let sampleMax = 20
    /// Places that are looked at: some ten seconds at Google.
    static let placesMax = 200

    /// What is at a place.
    let list: ([String]) async throws(CallFailure) -> Level
    /// What is purged wherever it is.
    let isKnown: (_ name: String, _ place: [String]) -> Bool

    /// By the place as it is shown.
    private var unmapped: [String: UnmappedCounter] = [:]
    private var samples: [String: String] = [:]
    private var placeCount = 0

    init(
        list: @escaping ([String]) async throws(CallFailure) -> Level,
        isKnown: @escaping (_ name: String, _ place: [String]) -> Bool = { _, _ in false }
    ) {
        self.list = list
        self.isKnown = isKnown
    }

    /// Looks at the root and at what rules lead to below it.
    mutating func look(_ rules: [Rule]) async throws(CallFailure) {
        try await look(at: [], as: "", rules, of: nil)
    }

    /// Looks at a place, which a finding shows as `shown`, and at what rules lead to below it.
    private mutating func look(
        at place: [String],
        as shown: String,
        _ rules: [Rule],
        of owner: Owner?
    ) async throws(CallFailure) {
        guard placeCount < Self.placesMax else {
            samples["*"] = "\(Self.placesMax) places were looked at, and there are more"
            return
        }
        placeCount += 1
        let level = try await list(place)
        if !level.isWhole {
            let place = shown.isEmpty ? "*" : shown
            samples[place] = "the first \(level.names.count) names were looked at"
        }
        var named = Set(rules.compactMap { Self.name($0.steps.first) })
        if level.isWhole { named.formIntersection(level.names) }
        let unnamed = level.names.filter { !named.contains($0) && !isKnown($0, place) }
        let known = Set(unnamed.flatMap { Self.users(in: $0, rules) })
        var others: [String: [String]] = [:]
        for name in unnamed {
            if let rule = rules.first(where: { $0.steps.first?.fits(name) == true }) {
                others[rule.steps.first?.text ?? "", default: []].append(name)
            } else {
                note(name, in: shown, of: owner, beside: known, rules)
            }
        }
        for name in named.sorted() {
            try await follow(name, at: place, as: shown + name + "/", rules, of: owner)
        }
        for (text, names) in others.sorted(by: { $0.key < $1.key }) {
            let rules = rules.filter { $0.steps.first?.text == text }
            guard !rules.contains(where: \.takesAllHere) else { continue }
            let count = min(names.count, Self.sampleMax)
            if count < names.count || !level.isWhole {
                let more = level.isWhole ? "" : " or more"
                samples[shown + text] = "\(count) of \(names.count)\(more) were looked into"
            }
            // Documents of any name may be named after users.
            let known = rules.contains(where: \.isAnyHere) ? known.union(names) : known
            // Spread over all of them: the first ones are often the oldest.
            for index in 0..<count {
                let name = names[index * names.count / count]
                let owner = Owner(name: name, ids: Self.users(in: name, rules), known: known)
                try await follow(name, at: place, as: shown + text + "/", rules, of: owner)
            }
        }
    }

    /// Notes a name that no rule has.
    private mutating func note(
        _ name: String,
        in shown: String,
        of owner: Owner?,
        beside known: Set<String>,
        _ rules: [Rule]
    ) {
        let prefixes = rules.compactMap(\.prefixHere)
        if let owner {
            unmapped[shown, default: UnmappedCounter()].note(
                owner.ids.reduce(name, UserMask.masked),
                isFolder: false,
                of: owner.name,
                isUser: owner.known.contains
            )
        } else if prefixes.isEmpty {
            unmapped[shown, default: UnmappedCounter()].note(name, isFolder: false)
        } else {
            unmapped[shown, default: UnmappedCounter()].note(
                name,
                isFolder: false,
                besideUsersBehind: prefixes,
                isUser: known.contains
            )
        }
    }

    /// Goes on behind a name, unless all that is there is purged.
    private mutating func follow(
        _ name: String,
        at place: [String],
        as shown: String,
        _ rules: [Rule],
        of owner: Owner?
    ) async throws(CallFailure) {
        let leading = rules.filter { $0.steps.first?.fits(name) == true }
        guard !leading.contains(where: \.takesAllHere) else { return }
        try await look(at: place + [name], as: shown, leading.map(\.below), of: owner)
    }

    private static func users(in name: String, _ rules: [Rule]) -> [String] {
        rules.compactMap { $0.steps.first?.user(in: name) }
    }

    private static func name(_ step: Step?) -> String? {
        if case .name(let name) = step { name } else { nil }
    }

    /// The configured rules, the names beside them, and where not all of them were looked at.
    func findings(_ rules: [String]) -> [CoverageFinding] {
        UnmappedNames.configured(rules)
            + unmapped.sorted { $0.key < $1.key }.flatMap { place, counter in
                counter.findings(in: place, unit: "names or more", "no rule leads there")
            }
            + CoverageFinding.samples(samples)
    }
}

extension UnmappedTree.Rule {
    /// What the rule says of what is below its first name.
    fileprivate var below: Self {
        var below = self
        below.steps = steps.dropFirst()
        return below
    }

    /// Whether the rule ends at its first name and takes all that is below.
    fileprivate var takesAllHere: Bool { steps.count == 1 && takesAllBelow }

    /// Whether its first name is that of any document.
    fileprivate var isAnyHere: Bool { if case .any = steps.first { true } else { false } }

    /// What stands before the user id in its first name; `nil` when that holds none.
    fileprivate var prefixHere: String? {
        if case .user(let path) = steps.first { path.before } else { nil }
    }
}
