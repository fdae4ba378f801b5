import Lifecycle

/// The five-minute lane: authorization codes, ahead of everything else.
extension EngineCore {
    mutating func adopt(_ loaded: LoadedExchange, event: CodeExchange.Event?, at now: WallTime) {
        let id = loaded.exchange.credential
        guard exchanges[id] == nil, ownership.isOpen(loaded.partition) else { return }
        exchanges[id] = loaded
        if let event {
            step(id, event, at: now)
        } else {
            enqueue(id)
        }
    }

    private mutating func enqueue(_ id: CredentialID) {
        guard let loaded = exchanges[id], ownership.isOpen(loaded.partition) else { return }
        let provider = loaded.exchange.provider
        lanes[provider]?.enqueue(code: id)
    }

    mutating func retryCodes(at now: WallTime) {
        for id in waitingExchanges.sorted()
        where exchanges[id]?.exchange.retry.wait(at: now) == nil {
            waitingExchanges.remove(id)
            enqueue(id)
        }
    }

    /// Records the intent; the call is made once that is durable.
    mutating func beginExchange(_ id: CredentialID, at now: WallTime) {
        guard let provider = exchanges[id]?.exchange.provider else { return }
        step(id, .begin, at: now)
        // A code too old to be sent has no call that would give the slot back.
        if exchanges[id]?.exchange.phase.isFinal ?? true {
            lanes[provider]?.gaveUp(isCode: true, at: now)
        }
    }

    mutating func exchangeAnswered(_ id: CredentialID, _ result: ExchangeResult, at now: WallTime) {
        var failure: EffectFailure?
        if case .failure(let kind) = result.event { failure = kind }
        if let provider = lateCodes.removeValue(forKey: id) {
            return providerAnswered(provider, .code(id), failure: failure, at: now)
        }
        guard let loaded = exchanges[id] else { return }
        providerAnswered(loaded.exchange.provider, .code(id), failure: failure, at: now)
        step(id, result.event, result, at: now)
    }

    private mutating func step(
        _ id: CredentialID,
        _ event: CodeExchange.Event,
        _ result: ExchangeResult? = nil,
        at now: WallTime
    ) {
        guard var loaded = exchanges[id] else { return }
        if let result {
            loaded.exchange.answer = event == .exchanged ? nil : result.answer
        }
        let effects = loaded.exchange.handle(event, now: now, random: &random)
        exchanges[id] = loaded
        if event == .exchanged, let result {
            record(
                .storeTokens(loaded.exchange, result.tokens, result.subject, at: now),
                of: loaded.partition
            )
        } else {
            record(.saveExchange(loaded.exchange, at: now), of: loaded.partition)
        }
        nextBatch.exchanges.append((id, effects))
    }

    mutating func perform(_ effects: [CodeExchange.Effect], of id: CredentialID, at now: WallTime) {
        guard let loaded = exchanges[id] else { return }
        for effect in effects {
            switch effect {
            case .exchange:
                actions.append(.exchange(loaded))
            case .retry:
                waitingExchanges.insert(id)
            case .pauseProvider:
                pause(loaded.exchange.provider, reason: EffectFailure.misconfigured.code, at: now)
                enqueue(id)
            case .settled:
                exchanges.removeValue(forKey: id)
                if isReadingInbox { settledMeanwhile.insert(id) }
                let lost = loaded.exchange
                if lost.phase != .exchanged {
                    actions.append(.report(.codeLost(lost.provider, lost.phase, lost.answer)))
                }
            }
        }
    }
}
