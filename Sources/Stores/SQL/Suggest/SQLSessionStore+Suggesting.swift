import Engine
import Lifecycle

/// What samples values: the search for unmapped data, and suggested rules.
extension SQLSessionStore {
    nonisolated var location: String? { configuration.location }

    func coverage() async -> CoverageAnswer {
        await answering(CoverageAnswer.failure) { signal throws(SQLError) in
            let schema = try connected(signal).schema()
            return try sampled(schema.coverage(configuration.claims), signal)
        }
    }

    func suggestion(userTable: String?) async -> SuggestionAnswer {
        await answering(SuggestionAnswer.failure) { signal throws(SQLError) in
            let schema = try connected(signal).schema()
            return try sampled(
                schema.suggestion(configuration.rules, userTable: userTable),
                signal
            )
        }
    }

    /// Reads sampled rows, a statement for each table.
    private func sampled<Answer>(
        _ search: SchemaSearch<Session.Dialect, Answer>,
        _ signal: CancelSignal
    ) throws(SQLError) -> Answer {
        var run = search.run
        let start = clock.uptime()
        while let sql = run?.next, clock.uptime() - start < SuggestLimits.total {
            do throws(SQLError) {
                let rows = try connected(signal).rows(sql, SQLParameters())
                run?.take(rows)
            } catch {
                // The server may still work on a statement for which the service waits no more.
                if error.kind == .timeout || error.kind == .oversized { dropSession() }
                guard run?.skip(after: error) == true else { throw error }
            }
        }
        return search.answer(run?.end() ?? SchemaSample())
    }
}

extension SQLError {
    /// One table cannot be read, and others may.
    var leavesOthers: Bool {
        switch kind {
        case .timeout, .failed, .unfit, .privilege, .locked, .busy, .oversized: true
        case .storage: isOutOfMemory
        case .constraint, .cancelled, .lost, .unreachable, .moved, .readOnly, .schemaChanged,
            .planRefused, .refused, .tls, .badConninfo, .indexLost:
            false
        }
    }
}
