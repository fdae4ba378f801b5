import Lifecycle

/// The five-minute lane: authorization codes, ahead of everything else.
extension EngineCore {
    mutating func adopt(_ loaded: LoadedExchange, event: CodeExchange.Event?, at now: WallTime) {
        let id = loaded.exchange.credential
        guard exchanges[id] == nil else { return }
        exchanges[id] = loaded
        if let event {
            step(id, event, at: now)
        } else {
            enqueue(id)
        }
    }

    private mutating func enqueue(_ id: CredentialID) {
        guard let provider = exchanges[id]?.exchange.provider else { return }
        lanes[provider]?.enqueue(code: id)
    }

    mutating func retryCodes(at now: WallTime) {
        for (id, time) in exchangeRetries.sorted(by: { $0.key < $1.key }) where time <= now {
            exchangeRetries.removeValue(forKey: id)
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
        guard let loaded = exchanges[id] else { return }
        var failure: EffectFailure?
        if case .failure(let kind) = result.event { failure = kind }
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
        let effects = loaded.exchange.handle(event, now: now, random: &random)
        exchanges[id] = loaded
        if event == .exchanged, let result {
            looseChanges.append(
                .storeTokens(loaded.exchange, result.tokens, result.subject, at: now)
            )
        } else {
            looseChanges.append(.saveExchange(loaded.exchange, at: now))
        }
        nextBatch.exchanges.append((id, effects))
    }

    mutating func perform(_ effects: [CodeExchange.Effect], of id: CredentialID, at now: WallTime) {
        guard let loaded = exchanges[id] else { return }
        for effect in effects {
            switch effect {
            case .exchange:
                actions.append(.exchange(loaded))
            case .retry(let delay):
                exchangeRetries[id] = now + delay
            case .pauseProvider:
                pause(loaded.exchange.provider, reason: EffectFailure.misconfigured.code, at: now)
                enqueue(id)
            case .settled:
                exchanges.removeValue(forKey: id)
                if loaded.exchange.phase != .exchanged {
                    actions.append(
                        .report(.codeLost(loaded.exchange.provider, loaded.exchange.phase))
                    )
                }
            }
        }
    }
}
