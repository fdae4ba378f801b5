import Engine
import Lifecycle

/// A database that counts the loose rows of a rule (``ChainStart``), and notes how many are old.
protocol LooseRowCounting: Actor, PurgeTarget {
    /// `nil` where nothing is kept.
    var notes: (any NoteStore)? { get }

    /// The loose rows of the rules that have the entry; `nil` where they cannot be counted.
    func looseCount(of entry: PurgeCounts.Entry) async -> Int?
}

extension LooseRowCounting {
    /// Takes back what the answers say of rules of which no row can be the user's.
    ///
    /// After an error, or where counting takes too long, it stays.
    func judged(_ answers: [PurgeAnswer]) async -> [PurgeAnswer] {
        var firm: Set<PurgeCounts.Entry> = []
        for entry in Set(answers.flatMap(\.unreached)) {
            guard let count = await looseCount(of: entry) else { continue }
            if count == 0 { firm.insert(entry) }
            guard entry.rowCount > 0, let old = await note(entry) else { continue }
            if count <= old { firm.insert(entry) }
            if count < old { await note(entry, count) }
        }
        return answers.map { $0.without(firm) }
    }

    /// Notes how many rows are loose at the first check of a rule.
    func noteLooseRows(of starts: [ChainStart]) async {
        for start in starts where notes != nil && !start.accountSQL.isEmpty {
            guard await note(start.entry) == nil else { continue }
            await note(start.entry, looseCount(of: start.entry))
        }
    }

    /// Notes the count if there is one, and answers what is noted.
    @discardableResult
    private func note(_ entry: PurgeCounts.Entry, _ count: Int? = nil) async -> Int? {
        do {
            let place = "loose:\(name):\(entry.name):\(entry.action)"
            if let count { try await notes?.setNote(place, to: "\(count)") }
            return try await notes?.note(place).flatMap { Int($0) }
        } catch {
            // Then any loose row may be the user's.
            return nil
        }
    }
}
