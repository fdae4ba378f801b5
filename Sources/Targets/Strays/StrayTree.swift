import Lifecycle

/// Looks through a tree of names for some that no rule leads to, level by level.
///
/// It goes down the names that rules have. Where one stands for users, or for any document, there
/// may be millions: it looks into some of them, and tells so.
struct StrayTree {
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

    /// Users, or documents, that are looked into at one place.
    static let sampleMax = 20
    /// Places that are looked at: some ten seconds at Google.
    static let placesMax = 200

    /// What is at a place.
    let list: ([String]) async throws(GoogleFailure) -> Level
    /// What is purged wherever it is.
    let isKnown: (_ name: String, _ place: [String]) -> Bool

    /// By the place as it is shown.
    private var strays: [String: Set<String>] = [:]
    private var samples: [String: String] = [:]
    private var placeCount = 0

    init(
        list: @escaping ([String]) async throws(GoogleFailure) -> Level,
        isKnown: @escaping (_ name: String, _ place: [String]) -> Bool = { _, _ in false }
    ) {
        self.list = list
        self.isKnown = isKnown
    }

    /// Looks at a place and at what rules lead to below it.
    ///
    /// - Parameters:
    ///   - place: The names that lead there.
    ///   - shown: The same with the user id, as a finding shows it.
    ///   - rules: What they say of the names there and below.
    /// - Throws: ``GoogleFailure``.
    mutating func look(
        at place: [String] = [],
        as shown: String = "",
        _ rules: [Rule]
    ) async throws(GoogleFailure) {
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
        var others: [String: [String]] = [:]
        for name in level.names where !named.contains(name) && !isKnown(name, place) {
            if let rule = rules.first(where: { $0.steps.first?.fits(name) == true }) {
                others[rule.steps.first?.text ?? "", default: []].append(name)
            } else {
                strays[shown, default: []].insert(name)
            }
        }
        for name in named.sorted() {
            try await follow(name, at: place, as: shown + name + "/", rules)
        }
        for (text, names) in others.sorted(by: { $0.key < $1.key }) {
            let rules = rules.filter { $0.steps.first?.text == text }
            guard !rules.contains(where: \.takesAllHere) else { continue }
            let count = min(names.count, Self.sampleMax)
            if count < names.count || !level.isWhole {
                let more = level.isWhole ? "" : " or more"
                samples[shown + text] = "\(count) of \(names.count)\(more) were looked into"
            }
            // Spread over all of them: the first ones are often the oldest.
            for index in 0..<count {
                let name = names[index * names.count / count]
                try await follow(name, at: place, as: shown + text + "/", rules)
            }
        }
    }

    /// Goes on behind a name, unless all that is there is purged.
    private mutating func follow(
        _ name: String,
        at place: [String],
        as shown: String,
        _ rules: [Rule]
    ) async throws(GoogleFailure) {
        let leading = rules.filter { $0.steps.first?.fits(name) == true }
        guard !leading.contains(where: \.takesAllHere) else { return }
        try await look(at: place + [name], as: shown, leading.map(\.below))
    }

    private static func name(_ step: Step?) -> String? {
        if case .name(let name) = step { name } else { nil }
    }

    /// The configured rules, the names beside them, and where not all of them were looked at.
    func findings(_ rules: [String]) -> [CoverageFinding] {
        StrayNames.configured(rules)
            + strays.sorted { $0.key < $1.key }.flatMap { place, names in
                StrayNames.strays(names.sorted(), in: place, kind: "names")
            }
            + samples.sorted { $0.key < $1.key }.map { place, reason in
                CoverageFinding(name: place, reason: reason, isCovered: true, isSample: true)
            }
    }
}

extension StrayTree.Rule {
    /// What the rule says of what is below its first name.
    fileprivate var below: Self {
        var below = self
        below.steps = steps.dropFirst()
        return below
    }

    /// Whether the rule ends at its first name and takes all that is below.
    fileprivate var takesAllHere: Bool { steps.count == 1 && takesAllBelow }
}
