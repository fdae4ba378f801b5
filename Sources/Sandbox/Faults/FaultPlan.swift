import Synchronization

/// Which calls fail, and how: a pure function of the seed and of the number of the call.
package struct FaultPlan: Codable, Equatable, Sendable {
    package var rate: Double
    /// The kinds to choose from, each with the same chance.
    package var kinds: [FaultKind]
    /// The endpoints whose calls may fail; other calls are not even counted.
    package var endpoints: [SandboxEndpoint]
    /// The providers whose calls may fail; all if `nil`.
    package var providers: [SandboxProvider]?
    /// The same seed fails the same calls in the same way.
    package var seed: UInt64
    /// How many calls may fail before the plan is used up; `nil` for no end.
    package var limit: Int?
    package var delayMilliseconds: Int64 = 200
    package var retryAfterSeconds = 1
    /// Tokens that the provider cannot serve: a call at the plan's endpoints that sends one is
    /// answered 400 `invalid_request` and does not act, whatever the rate.
    package var unserviceable: [String] = []

    package static let none = FaultPlan(rate: 0)

    /// By default every kind at every endpoint; `rate` is the share of calls that fail, 0 to 1.
    package init(
        rate: Double,
        kinds: [FaultKind] = FaultKind.allCases,
        endpoints: [SandboxEndpoint] = SandboxEndpoint.allCases,
        seed: UInt64 = 1,
        limit: Int? = nil
    ) {
        (self.rate, self.kinds, self.endpoints) = (rate, kinds, endpoints)
        (self.seed, self.limit) = (seed, limit)
    }

    /// How a call at the plan's endpoints fails, by its number from 0, whatever the limit.
    package func fault(forCall number: UInt64) -> FaultKind? {
        guard !kinds.isEmpty, rate > 0 else { return nil }
        let first = Self.mixed(seed &+ (number &+ 1) &* 0x9e37_79b9_7f4a_7c15)
        // 53 bits are what a Double holds.
        guard Double(first >> 11) / 9_007_199_254_740_992 < rate else { return nil }
        return kinds[Int(Self.mixed(first) % UInt64(kinds.count))]
    }

    /// The output function of SplitMix64 (Steele, Lea, Flood: Fast splittable generators, 2014).
    private static func mixed(_ value: UInt64) -> UInt64 {
        var mixed = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

extension FaultPlan {
    private enum CodingKeys: String, CodingKey {
        case rate, kinds, endpoints, providers, seed, limit, unserviceable
        case delayMilliseconds = "delayMs"
        case retryAfterSeconds = "retryAfterS"
    }

    /// Reads a plan; every key may be missing, a missing `rate` is 0.
    ///
    /// - Throws: ``SandboxError`` for a rate or a delay out of range, a decoding error otherwise.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        func value<Value: Decodable>(_ key: CodingKeys, or usual: Value) throws -> Value {
            try values.decodeIfPresent(Value.self, forKey: key) ?? usual
        }
        self.init(rate: try value(.rate, or: 0))
        kinds = try value(.kinds, or: kinds)
        endpoints = try value(.endpoints, or: endpoints)
        providers = try values.decodeIfPresent([SandboxProvider].self, forKey: .providers)
        seed = try value(.seed, or: seed)
        limit = try values.decodeIfPresent(Int.self, forKey: .limit)
        delayMilliseconds = try value(.delayMilliseconds, or: delayMilliseconds)
        retryAfterSeconds = try value(.retryAfterSeconds, or: retryAfterSeconds)
        unserviceable = try value(.unserviceable, or: unserviceable)
        guard (0...1).contains(rate), (0...600_000).contains(delayMilliseconds) else {
            throw SandboxError(.badRequest, cannot: "use fault plan", at: "rate or delay_ms")
        }
    }
}

/// One way in which a provider or the network fails a caller.
package enum FaultKind: String, CaseIterable, Codable, Sendable {
    /// Never answers and does not act; the caller has to give up.
    case timeout
    /// Acts and answers as usual, but only after the plan's delay.
    case delay
    /// Resets the connection before it acts.
    case reset
    /// Answers 429 with `Retry-After` and does not act.
    case throttled
    /// Answers 503 with `Retry-After` and does not act (RFC 7009 §2.2.1).
    case unavailable
    /// Answers 500 and does not act.
    case serverError = "server_error"
    /// Answers 200 with a web page, as a captive portal or proxy does, and does not act.
    case html
    /// Answers 403 with JSON that names no error, as a gateway does, and does not act.
    case forbidden
    /// Acts, promises the whole body, sends half of it and closes.
    case truncated
    /// Acts and answers the right body as `text/plain`.
    case wrongContentType = "wrong_content_type"
    /// Acts, then resets the connection: the caller cannot know.
    case responseLost = "response_lost"
}

final class FaultInjector: Sendable {
    private struct State {
        var plan: FaultPlan
        var calls: UInt64 = 0
        var injected = 0
    }

    typealias Fault = (kind: FaultKind, plan: FaultPlan)

    private let state: Mutex<State>

    init(plan: FaultPlan) { state = Mutex(State(plan: plan)) }

    var plan: FaultPlan { state.withLock { $0.plan } }

    func start(_ plan: FaultPlan) { state.withLock { $0 = State(plan: plan) } }

    /// Whether a call sends a token that the plan calls unserviceable.
    func refuses(_ body: [UInt8], at endpoint: SandboxEndpoint) -> Bool {
        let plan = state.withLock { $0.plan }
        let tokens = plan.unserviceable
        guard !tokens.isEmpty, plan.endpoints.contains(endpoint) else { return false }
        // As a form's field, or anywhere in another body.
        let form = ParsedForm(body)
        let fields = ["token", "refresh_token", "access_token"].compactMap { form[$0] }
        let text = String(decoding: body, as: UTF8.self)
        return tokens.contains { fields.contains($0) || text.contains($0) }
    }

    func decide(_ provider: String, _ endpoint: SandboxEndpoint) -> Fault? {
        state.withLock { state in
            guard state.plan.endpoints.contains(endpoint),
                state.plan.providers?.contains(where: { $0.rawValue == provider }) ?? true
            else { return nil }
            let number = state.calls
            state.calls += 1
            guard state.injected < state.plan.limit ?? .max,
                let kind = state.plan.fault(forCall: number)
            else { return nil }
            state.injected += 1
            return (kind: kind, plan: state.plan)
        }
    }
}
