import Control
import Encoding
import Lifecycle
import Storage

extension DaemonBackend {
    func list(
        _ filter: WireRequestFilter,
        caller: Caller
    ) async throws(ControlProblem) -> WireList<WireRequest> {
        var stored = RequestFilter()
        if let state = filter.state { stored.states = [state] }
        stored.userHash = filter.user.map(hash)
        stored.provider = filter.provider
        stored.ids = filter.idPrefix.flatMap(RequestID.range)
        let (narrowed, start) = (stored, filter.cursor.flatMap { RequestID($0) })
        guard (start == nil) == (filter.cursor == nil) else {
            throw ControlProblem(.malformedQuery, "'cursor' is not one of ours")
        }
        let page = try await attempt("list") {
            try await parts.state.requestRecords(narrowed, cursor: start, limit: filter.limit)
        }
        let providers = parts.registry.current.providers
        return WireList(
            page.records.map { WireRequest(RequestView($0, providers), hasSteps: false) },
            nextCursor: page.next?.description
        )
    }

    func show(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> WireRequest {
        let record = try await record(id)
        let providers = parts.registry.current.providers
        var wire = WireRequest(RequestView(record, providers), hasSteps: true)
        let forgotten = try await attempt("show") {
            try await parts.state.forgotten(
                of: record.userHash,
                until: record.request.endedAt ?? parts.now()
            )
        }
        if !forgotten.isEmpty { wire.forgotten = forgotten }
        wire.heldBy = try await heldBy(record)
        guard !record.request.phase.isEnded, !wire.identities.isEmpty else { return wire }
        let known = try await attempt("show") { try await parts.state.identities(record.userHash) }
        for index in wire.identities.indices {
            guard let match = known.first(where: { $0.id == wire.identities[index].identityID })
            else { continue }
            wire.identities[index].credentialCount = match.credentialCount
            wire.identities[index].isSubjectFirstSeen = match.subjectFirstSeenAt != nil
            guard match.credentialCount == 0 else { continue }
            wire.identities[index].failedCode = match.failedCode.flatMap(WireFailedCode.init)
        }
        return wire
    }

    func record(_ id: RequestID) async throws(ControlProblem) -> RequestRecord {
        let found = try await attempt("show") { try await parts.state.requestRecord(id) }
        guard let found else { throw ControlProblem(.requestNotFound) }
        return found
    }

    func receipt(_ id: RequestID, caller: Caller) async throws(ControlProblem) -> JSONValue {
        let record = try await record(id)
        guard record.request.phase == .completed else {
            throw ControlProblem(.wrongState, "there is no receipt before the request completed")
        }
        let end = record.request.endedAt ?? parts.now()
        let (forgotten, note, recheckNote, scope) = try await attempt("receipt") {
            (
                try await parts.state.forgotten(of: record.userHash, until: end),
                try await parts.state.note(AbandonNote.name(of: id)),
                try await parts.state.note(AbandonNote.name(ofRecheck: id)),
                try ErasureScope(document: await parts.state.scope(of: id))
            )
        }
        return Receipt(
            record: record,
            forgotten: forgotten,
            abandonNote: note.flatMap(AbandonNote.init(text:)),
            recheckNote: recheckNote.flatMap(AbandonNote.init(text:)),
            statement: ReceiptStatement(request: record.request, scope: scope),
            ledger: try await ledgerPart(of: id)
        ).json
    }

    func events(
        _ id: RequestID?,
        after last: Int64? = nil,
        caller: Caller
    ) async throws(ControlProblem) -> AsyncStream<WireEvent> {
        // Listening begins before the look, so that an end in between is not missed.
        let changes = parts.hub.listen(to: id, after: last, at: parts.now())
        guard let id else { return changes }
        let record = try await record(id)
        guard record.request.phase.isEnded else { return changes }
        var event = WireEvent(sequence: 0, kind: .request, at: record.updatedAt, requestID: id)
        event.state = record.request.phase.state.rawValue
        event.detail = record.request.endDetail
        return AsyncStream { [event] continuation in
            continuation.yield(event)
            continuation.finish()
        }
    }
}
