import Cryptography
import Encoding
import Engine
import Lifecycle

/// A database that counts the orphans of a rule (``ChainStart``), and notes how many are old.
protocol OrphanCounting: Actor, PurgeStore {
    /// Where the notes are kept, and whose they are.
    var sqlConfiguration: any SQLConfiguration { get }

    /// Those of the plan; empty where it cannot be made.
    func chainStarts() async -> [ChainStart]

    /// The orphans of rules that have one entry, up to a limit; `nil` where they cannot be
    /// counted.
    func orphanCount(of starts: [ChainStart], upTo limit: Int) async -> Int?
}

extension OrphanCounting {
    /// Takes back what the answers say of rules of which no row can be the user's.
    ///
    /// After an error, or where counting takes too long, it stays, also while the account stands.
    func takingBackUnreached(_ answers: [PurgeAnswer]) async -> [PurgeAnswer] {
        let entries = Set(answers.flatMap(\.unreached))
        guard !entries.isEmpty else { return answers }
        var firm: Set<PurgeCounts.Entry> = []
        for (entry, starts) in Dictionary(grouping: await chainStarts(), by: \.entry) {
            let own = entries.filter { $0.isSame(as: entry) }
            guard !own.isEmpty, let (count, old) = await counted(starts) else { continue }
            firm.formUnion(own.filter { count == 0 || ($0.rowCount > 0 && count <= old ?? -1) })
        }
        return answers.map { $0.without(firm) }
    }

    /// Notes how many orphans there are.
    func noteOrphans() async {
        guard sqlConfiguration.notes != nil else { return }
        for starts in Dictionary(grouping: await chainStarts(), by: \.entry).values
        where starts.contains(where: \.isFault) {
            _ = await counted(starts)
        }
    }

    /// Counts the orphans, one more than were noted at most, and notes the fewest.
    ///
    /// - Returns: `nil` after an error: then any orphan may be the user's.
    private func counted(_ starts: [ChainStart]) async -> (count: Int, old: Int?)? {
        let notes = starts.contains(where: \.isFault) ? sqlConfiguration.notes : nil
        let parts = [sqlConfiguration.location] + starts.map(\.orphanSQL)
        let digest = SHA256.hash(Array(parts.joined(separator: "\0").utf8))
        let place = NoteName.orphans + "\(name):\(Base64URL.text(digest))"
        do {
            let noted = try await notes?.note(place)
            let old = noted.flatMap { Int32($0) }.map { Int($0) }
            let limit = old.map { $0 + 1 } ?? (notes == nil ? 1 : Int.max)
            guard let count = await orphanCount(of: starts, upTo: limit) else { return nil }
            if count < old ?? Int.max { try await notes?.lowerNote(place, to: count) }
            return (count, old)
        } catch {
            return nil
        }
    }
}
