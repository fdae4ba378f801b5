import Lifecycle

/// Looks at what is beside users' folders and objects in a bucket, and beside what rules take in
/// some of those folders.
///
/// There may be millions: it looks at some, and tells so.
struct UserFolders {
    /// Where a rule leads of one user.
    private struct Own {
        let template: KeyTemplate
        let user: String
        /// The key, or what it begins with.
        var key: String { template.key(ofOwner: user) }
    }

    private let templates: [KeyTemplate]
    /// What is in a folder: names without the folder's, those of folders with a slash at the end.
    private let list: (String) async throws(CallFailure) -> UnmappedTree.Level

    /// By the place as it is shown.
    private var unmapped: [String: UnmappedCounter] = [:]
    /// The ids that were found.
    private var users: Set<String> = []
    private var samples: [String: String] = [:]
    private var placeCount = 0

    init(
        _ templates: [KeyTemplate],
        list: @escaping (String) async throws(CallFailure) -> UnmappedTree.Level
    ) {
        self.templates = templates
        self.list = list
    }

    /// What was found, and where not all was looked at.
    var findings: [CoverageFinding] {
        unmapped.sorted { $0.key < $1.key }.flatMap { place, counter in
            counter.findings(in: place, unit: "objects", "no rule leads there")
        }
            + CoverageFinding.samples(samples)
    }

    /// The rules, the folders above users to which none leads, and what was found.
    ///
    /// A folder with the id of a user who was found is only counted.
    func findings(beside folders: Set<String>) -> [CoverageFinding] {
        var (all, told) = (self, folders)
        for folder in folders where folders.count <= UnmappedNames.namesMax {
            let end = folder.dropLast().lastIndex(of: "/")
            let parent = end.map { String(folder[...$0]) } ?? ""
            let name = UnmappedNames.relative(folder, to: parent)
            guard UserMask.hasOther(name, isUser: users.contains) else { continue }
            told.remove(folder)
            all.unmapped[parent, default: UnmappedCounter()].note(nil, isFolder: true)
        }
        return UnmappedNames.configured(templates.map(\.description))
            + UnmappedNames.unmapped(told.sorted()) + all.findings
    }

    /// Looks at every folder in which a rule has user ids.
    mutating func look() async throws(CallFailure) {
        for folder in Set(templates.map(\.folder)).sorted() {
            try await look(at: folder, templates.filter { $0.folder == folder })
        }
    }

    private mutating func look(
        at folder: String,
        _ templates: [KeyTemplate]
    ) async throws(CallFailure) {
        guard let names = try await names(in: folder, as: folder) else { return }
        var owns: [String: [Own]] = [:]
        for name in names {
            owns[name] = templates.compactMap { template in
                template.owner(of: name).map { Own(template: template, user: $0) }
            }
        }
        let users = Set(owns.values.joined().map(\.user))
        self.users.formUnion(users)
        var some: [String: SpreadSample<(name: String, owns: [Own])>] = [:]
        for name in names where !leads(folder + name) {
            let own = owns[name] ?? []
            if own.isEmpty {
                note(name, beside: users, in: folder, templates)
            } else if let first = own.first, !own.contains(where: \.template.isWholeThere) {
                let shown = folder + first.template.nameThere
                some[shown, default: SpreadSample(max: UnmappedTree.sampleMax)].add((name, own))
            }
        }
        for (shown, sample) in some.sorted(by: { $0.key < $1.key }) {
            let chosen = sample.elements
            if chosen.count < sample.count {
                samples[shown] = "\(chosen.count) of \(sample.count) were looked into"
            }
            for (name, owns) in chosen {
                try await look(into: folder + name, as: shown, owns, beside: users)
            }
        }
    }

    /// Whether a rule has this folder on the way to users, deeper than they are here.
    private func leads(_ name: String) -> Bool {
        name.hasSuffix("/") && templates.contains { $0.root.hasPrefix(name) }
    }

    /// Looks into one user's folder, and into those in it that rules lead through.
    private mutating func look(
        into folder: String,
        as shown: String,
        _ owns: [Own],
        beside users: Set<String>
    ) async throws(CallFailure) {
        for way in Set(owns.flatMap(\.template.foldersBelow)).sorted() {
            let (place, shown) = (folder + way, shown + way)
            guard let names = try await names(in: place, as: shown) else { return }
            for name in names {
                let isTaken = owns.contains { own in
                    own.template.holds(place + name, of: own.key)
                        || (name.hasSuffix("/") && own.key.hasPrefix(place + name))
                }
                guard !isTaken else { continue }
                unmapped[shown, default: UnmappedCounter()].note(
                    owns.reduce(name) { UserMask.masked($0, $1.user) },
                    isFolder: name.hasSuffix("/"),
                    of: folder,
                    isUser: users.contains
                )
            }
        }
    }

    /// Notes a name in a folder of users that is none of theirs as the rules have them.
    private mutating func note(
        _ name: String,
        beside users: Set<String>,
        in folder: String,
        _ templates: [KeyTemplate]
    ) {
        let roots = self.templates.map(\.root)
        let isFolder = name.hasSuffix("/")
        // The look at the folders above has found it.
        guard
            !isFolder || !UnmappedNames.parents(of: roots).contains(folder)
                || UnmappedNames.isCovered(folder + name, by: roots)
        else { return }
        unmapped[folder, default: UnmappedCounter()].note(
            name,
            isFolder: isFolder,
            besideUsersBehind: templates.map(\.prefix),
            isUser: users.contains
        )
    }

    /// The names at a place; `nil` when so many places were looked at that this one is not.
    private mutating func names(
        in place: String,
        as shown: String
    ) async throws(CallFailure) -> [String]? {
        guard placeCount < UnmappedTree.placesMax else {
            samples["*"] = "\(UnmappedTree.placesMax) folders were looked at, and there are more"
            return nil
        }
        placeCount += 1
        let level = try await list(place)
        if !level.isWhole {
            let place = shown.isEmpty ? "*" : shown
            samples[place] = "the first \(level.names.count) names were looked at"
        }
        // Some tools make an object of no bytes for a folder.
        return Set(level.names).subtracting([""]).sorted()
    }
}

/// Some of many, spread over all of them in the order in which they come: the first ones are often
/// the oldest.
struct SpreadSample<Element> {
    private let max: Int
    private var kept: [Element] = []
    private var stride = 1
    private(set) var count = 0

    init(max: Int) { self.max = max }

    mutating func add(_ element: Element) {
        defer { count += 1 }
        guard count.isMultiple(of: stride) else { return }
        if kept.count == 2 * max {
            kept = kept.indices.filter { $0.isMultiple(of: 2) }.map { kept[$0] }
            stride *= 2
            guard count.isMultiple(of: stride) else { return }
        }
        kept.append(element)
    }

    /// At most as many as were wanted.
    var elements: [Element] {
        guard kept.count > max else { return kept }
        return (0..<max).map { kept[$0 * kept.count / max] }
    }
}
