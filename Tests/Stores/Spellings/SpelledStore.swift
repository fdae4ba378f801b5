import Engine
import Lifecycle

@testable import Stores

/// A store in which things of both ids of each pair stand, each under a number, and which is asked
/// for them as an application would ask.
protocol SpelledStore {
    var store: any PurgeStore { get }

    /// Has nothing but a thing of each id, as far as it can hold the ids.
    func fill(_ ids: [Int: String]) async throws

    /// All that is there, by number, byte for byte.
    func contents() async throws -> [Int: [UInt8]]

    /// What the store itself takes for things of an id, by its own rules of equality.
    func found(_ text: String, among contents: [Int: [UInt8]]) async throws -> Set<Int>
}

extension SpelledStore {
    /// A store that compares bytes, and holds the id as it was written.
    func found(_ text: String, among contents: [Int: [UInt8]]) async throws -> Set<Int> {
        Set(contents.filter { $0.value == Array(text.utf8) }.keys)
    }
}

/// What a purge of one id of each pair did, judged by the store's own bytes.
struct SpelledVerdict {
    /// Called erased while the store still finds something under the id.
    var falselyVerified: [String] = []
    /// Gone or changed, though neither erased user had it.
    var touched: [String] = []
    /// Alone under their id, and yet not called erased, with the answer.
    var refused: [String] = []
    var cleanCount = 0
    /// Ids of which the store holds something that is written otherwise.
    var equatedCount = 0

    /// Fills a store, and erases one id of each pair.
    ///
    /// What is no id of a user is stored but not erased.
    static func erasing(
        _ path: KeyPath<SpelledPair, String>,
        of pairs: [SpelledPair] = SpelledPair.all,
        in spelled: any SpelledStore
    ) async throws -> SpelledVerdict {
        var ids: [Int: String] = [:]
        for (index, pair) in pairs.enumerated() {
            (ids[2 * index], ids[2 * index + 1]) = (pair.own, pair.other)
        }
        try await spelled.fill(ids)
        let before = try await spelled.contents()
        var verdict = SpelledVerdict()
        var found: [Int: Set<Int>] = [:]
        var requests: [(pair: Int, user: UserID)] = []
        for (index, pair) in pairs.enumerated() {
            guard let user = UserID(pair[keyPath: path]) else { continue }
            requests.append((index, user))
            found[index] = try await spelled.found(user.exposeText(), among: before)
        }
        var verified: [VerifyAnswer] = []
        for start in stride(from: 0, to: requests.count, by: 100) {
            let orders = try requests[start...].prefix(100).map {
                try FilesFixture.order($0.user.exposeText())
            }
            _ = await spelled.store.purge(orders)
            verified += await spelled.store.verify(orders)
        }
        let after = try await spelled.contents()
        verdict.judge(touchedSince: before, after, pairs, asked: requests.map(\.user), found)
        for (request, answer) in zip(requests, verified) {
            let name = "\(pairs[request.pair].name): \(answer)"
            let own = found[request.pair] ?? []
            let isEquated = own.contains { before[$0] != Array(request.user.exposeText().utf8) }
            verdict.equatedCount += isEquated ? 1 : 0
            if answer == .clean {
                verdict.cleanCount += 1
                if !own.isDisjoint(with: after.keys) { verdict.falselyVerified.append(name) }
            } else if !isEquated {
                verdict.refused.append(name)
            }
        }
        return verdict
    }

    private mutating func judge(
        touchedSince before: [Int: [UInt8]],
        _ after: [Int: [UInt8]],
        _ pairs: [SpelledPair],
        asked users: [UserID],
        _ found: [Int: Set<Int>]
    ) {
        let mayGo = found.values.reduce(into: Set<Int>()) { $0.formUnion($1) }
        for (number, bytes) in before where after[number] != bytes {
            guard !mayGo.contains(number) || after[number] != nil else { continue }
            let pair = pairs[number / 2]
            touched.append("\(number.isMultiple(of: 2) ? "own" : "other") of \(pair.name)")
        }
    }
}

/// Where the things of each id stand in a store that has several places for them.
struct SpelledParts {
    /// By their bytes: Swift takes two ways to write an `é` for one.
    private var numbers: [[UInt8]: Int] = [:]
    private var found: [Int: Int] = [:]
    private let count: Int

    /// A thing of each id stands in `count` places.
    init(_ ids: [Int: String], count: Int) {
        self.count = count
        for (number, text) in ids { numbers[Array(text.utf8)] = number }
    }

    /// Something stands under an id.
    mutating func note(_ id: some Collection<UInt8>) {
        if let number = numbers[Array(id)] { found[number, default: 0] += 1 }
    }

    /// What stands behind a prefix, and before the next separator.
    mutating func note(_ place: String, behind prefix: String, before suffix: String) {
        let bytes = Array(place.utf8)
        guard bytes.starts(with: prefix.utf8), bytes.reversed().starts(with: suffix.utf8.reversed())
        else { return }
        note(bytes.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count))
    }

    /// The ids; with a mark where a part is missing.
    var contents: [Int: [UInt8]] {
        let ids = Dictionary(uniqueKeysWithValues: numbers.map { ($0.value, $0.key) })
        return found.reduce(into: [:]) { contents, part in
            contents[part.key] = (ids[part.key] ?? []) + (part.value == count ? [] : [0])
        }
    }
}
