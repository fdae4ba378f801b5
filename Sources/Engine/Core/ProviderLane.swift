import DequeModule
package import Lifecycle

/// What the engine must know about one provider to share it fairly.
package struct LaneLimits: Hashable, Sendable {
    package let concurrency: Int
    /// Calls begun per second; `nil` for no bound.
    package let ratePerSecond: Double?

    package init(concurrency: Int, ratePerSecond: Double? = nil) {
        (self.concurrency, self.ratePerSecond) = (concurrency, ratePerSecond)
    }
}

/// What every call has met since the provider answered one as it should.
package struct LaneOutage: Hashable, Sendable {
    package private(set) var since: WallTime
    /// Of the last call.
    private var failure: EffectFailure?
    private(set) var lastAt: WallTime
    /// When the longest wait ends that a failure asked for.
    private var waitsUntil: WallTime
    var isReported = false
    /// Whether a user or a code waits; a renewal that fails keeps nobody waiting.
    var isOfUsers = false

    init(since: WallTime) { (self.since, lastAt, waitsUntil) = (since, since, since) }

    mutating func note(_ failure: EffectFailure?, at now: WallTime) {
        (self.failure, lastAt) = (failure, now)
        waitsUntil = max(waitsUntil, now + min(failure?.retryAfter ?? .zero, Limits.backoffMax))
    }

    mutating func reclock(by step: Duration, at now: WallTime) {
        (since, lastAt) = (min(since + step, now), min(lastAt + step, now))
        waitsUntil = waitsUntil + step
    }

    package var reason: String { failure?.reason ?? "" }

    /// Whoever waits is called again before.
    var endsAt: WallTime { max(lastAt, waitsUntil) + Limits.outageBackoffMax * 2 }

    /// Whether it is more than one user's bad luck.
    package func isKnown(at now: WallTime) -> Bool {
        isReported || now.since(since) >= Limits.outageDoubt
    }
}

/// The queue in front of one provider: concurrency, rate, breaker, and a fast track for codes.
///
/// ```
/// closed ──8 callers fail in a row──▶ open ──pause over──▶ probing ──answer──▶ closed
///                                      ▲                      └──failure──┐
///                                      └──────── pause × 2, ≤ 5 min ──────┘
/// ```
///
/// A provider that is known to refuse everybody opens it at once.
///
/// One caller that fails again and again counts once: what a provider cannot do for one user must
/// not close it for the others. For the same reason each probe is another caller's, and codes go
/// first.
struct ProviderLane: Sendable {
    struct Call: Hashable, Sendable {
        let request: RequestID
        let effect: RequestEffect
    }

    enum Caller: Hashable, Sendable {
        case request(RequestID)
        case code(CredentialID)
        case renewal(CredentialID)

        var isCode: Bool { if case .code = self { true } else { false } }
        var isRenewal: Bool { if case .renewal = self { true } else { false } }
    }

    /// One whose users wait, while others are served.
    struct Client: Hashable {
        let name: String
        /// If so, the provider refuses it.
        let isConfigured: Bool
    }

    private(set) var limits: LaneLimits
    private(set) var breaker = LaneHealth.Breaker.closed
    private(set) var failedCallers: Set<Caller> = []
    /// ``EffectFailure/reason`` of the last call; `nil` when it was answered as it should be.
    private(set) var lastFailure: String?
    private(set) var outage: LaneOutage?
    /// The same of single clients and directories that are refused, or not configured.
    private(set) var refusedClients: [Client: LaneOutage] = [:]
    /// Everybody who is due has failed: the next probe may be one of them.
    var mayRepeatProbe = false
    /// When a code may probe; codes do not live as long as the pause of an outage lasts.
    private var codesOpenAt = WallTime.distantPast
    /// The end of the pause that the probe under way comes before.
    private var pausedUntil = WallTime.distantPast
    private(set) var callsUnderWay = 0
    private(set) var codesUnderWay = 0
    private(set) var renewalsUnderWay = 0
    private(set) var calls = Deque<Call>()
    private(set) var codes = Deque<CredentialID>()
    private(set) var begunCount = 0
    var requestCount = 0
    private var tokens: Double
    private var refilledAt: WallTime?

    init(limits: LaneLimits) {
        self.limits = limits
        tokens = Self.burst(limits)
    }

    /// Enough to read and commit the next while half are called; one while only a probe may pass.
    var requestCountMax: Int { isTrusted ? max(64, limits.concurrency * 8) : 1 }

    /// Whether there is no outage, neither of all users nor of one client.
    var isWell: Bool { outage == nil && refusedClients.isEmpty }

    var isTrusted: Bool { if case .closed = breaker { true } else { false } }

    /// When the breaker lets a probe through; `nil` while it is not open.
    var opensAt: WallTime? {
        guard case .open(let until, _) = breaker else { return nil }
        return until
    }

    mutating func adopt(_ limits: LaneLimits) {
        self.limits = limits
        tokens = min(tokens, Self.burst(limits))
    }

    /// When no user of one of the refused clients has been tried for long enough; `nil` while a
    /// breaker keeps them from being called.
    var clientsEndAt: WallTime? {
        guard isTrusted, let endsAt = refusedClients.values.map(\.endsAt).min() else { return nil }
        return max(endsAt, pausedUntil + Limits.outageBackoffMax * 2)
    }

    /// Forgets the refused clients that are over, and returns them.
    mutating func endClients(where isOver: (Client, LaneOutage) -> Bool) -> [String] {
        let ended = refusedClients.filter { isOver($0.key, $0.value) }.keys
        for client in ended { refusedClients[client] = nil }
        return ended.map(\.name).sorted()
    }

    var unconfiguredClients: [String] {
        refusedClients.keys.filter { !$0.isConfigured }.map(\.name).sorted()
    }

    /// The clock jumped; a provider may have failed by the wrong one alone, so it is asked at once.
    mutating func reclock(by step: Duration, at now: WallTime) {
        if case .open(let until, let openings) = breaker {
            breaker = .open(until: min(until + step, now), openings: openings)
        }
        codesOpenAt = min(codesOpenAt + step, now)
        pausedUntil = min(pausedUntil + step, now)
        refilledAt = refilledAt.map { $0 + step }
        outage?.reclock(by: step, at: now)
        for client in refusedClients.keys { refusedClients[client]?.reclock(by: step, at: now) }
    }

    mutating func enqueue(_ call: Call) { calls.append(call) }

    mutating func enqueue(code: CredentialID) { codes.append(code) }

    /// Codes have slots of their own and ignore the rate: they live five minutes.
    mutating func nextCode(at now: WallTime) -> CredentialID? {
        guard !codes.isEmpty, hasRoomForCode, mayPass(at: now) || mayCodeProbe(at: now) else {
            return nil
        }
        codesUnderWay += 1
        begunCount += 1
        probeIfOpen()
        return codes.popFirst()
    }

    mutating func nextCall(at now: WallTime) -> Call? {
        guard !calls.isEmpty, hasRoomForCall, mayPass(at: now), takeToken(at: now) else {
            return nil
        }
        callsUnderWay += 1
        begunCount += 1
        probeIfOpen()
        return calls.popFirst()
    }

    /// In a slot of its own, only while nothing else waits, and one at a time.
    mutating func beginRenewal(at now: WallTime) -> Bool {
        guard isIdle, mayPass(at: now), takeToken(at: now) else { return false }
        renewalsUnderWay += 1
        begunCount += 1
        probeIfOpen()
        return true
    }

    /// Turns the slot into one of a call, which ``finished(_:failure:at:)`` gives back.
    mutating func renewalEnded() {
        renewalsUnderWay -= 1
        callsUnderWay += 1
    }

    func renewalChance(_ now: WallTime) -> WallTime? {
        guard isIdle, mayPass(at: now) else { return nil }
        let chance = tokenAt(now)
        return chance > now ? chance : nil
    }

    private var isIdle: Bool { renewalsUnderWay == 0 && calls.isEmpty && codes.isEmpty }

    mutating func remove(where isGone: (Call) -> Bool) { calls.removeAll(where: isGone) }

    mutating func removeCodes(where isGone: (CredentialID) -> Bool) {
        codes.removeAll(where: isGone)
    }

    mutating func takeAllCalls() -> [Call] {
        defer { calls.removeAll() }
        return Array(calls)
    }

    /// The pause when this very answer opened the breaker.
    mutating func finished(_ caller: Caller, failure: EffectFailure?, at now: WallTime) -> Duration?
    {
        // A renewal that is not made keeps nobody waiting.
        if let failure, let client = failure.client, failure.wasAsked || !caller.isRenewal {
            refusedClients[client, default: LaneOutage(since: now)].note(failure, at: now)
        }
        if let failure, !failure.wasAsked {
            gaveUp(isCode: caller.isCode, at: now)
            if limits.ratePerSecond != nil { tokens = min(Self.burst(limits), tokens + 1) }
            return nil
        }
        if caller.isCode { codesUnderWay -= 1 } else { callsUnderWay -= 1 }
        lastFailure = failure?.reason
        guard let failure, failure.mayBeOutage else {
            close()
            outage = nil
            return nil
        }
        outage = outage ?? LaneOutage(since: now)
        outage?.note(failure, at: now)
        if !caller.isRenewal { outage?.isOfUsers = true }
        guard failure.speaksAgainstProvider else {
            close()
            return nil
        }
        note(caller)
        switch breaker {
        case .closed:
            let isSeen = failedCallers.count >= Limits.breakerFailures || failure.concernsEverybody
            return isSeen ? open(1, at: now) : nil
        case .probing(let openings) where now < pausedUntil:
            // A code that came before its turn makes nobody wait longer.
            breaker = .open(until: pausedUntil, openings: openings)
            codesOpenAt = now + Limits.codeBackoffMax
            return nil
        case .probing(let openings):
            return open(openings + 1, at: now)
        case .open:
            return nil
        }
    }

    /// When no user has been tried for so long that none waits; `nil` while one does.
    ///
    /// Renewals are hours apart: what they meet counts until it is reported.
    var outageEndsAt: WallTime? {
        guard let outage, outage.isOfUsers || outage.isReported, isIdle,
            callsUnderWay + codesUnderWay == 0
        else { return nil }
        return max(outage.endsAt, pausedUntil + Limits.outageBackoffMax * 2)
    }

    /// An outage that is to be reported now; that of a paused provider is none of users.
    mutating func reportOutage(at now: WallTime, isPaused: Bool = false) -> LaneOutage? {
        if let (client, known) = refusedClients.first(where: { !$1.isReported }) {
            refusedClients[client]?.isReported = true
            return known
        }
        guard !isPaused, let known = outage, !known.isReported,
            !isTrusted || known.isKnown(at: known.isOfUsers ? now : known.lastAt)
        else { return nil }
        outage?.isReported = true
        return outage
    }

    /// When an outage is to be reported, if no call is made before.
    var outageKnownAt: WallTime? {
        outage.flatMap { $0.isReported || !$0.isOfUsers ? nil : $0.since + Limits.outageDoubt }
    }

    /// A check found nothing; a probe under way decides for itself.
    ///
    /// - Returns: Whether the breaker was open.
    mutating func trust() -> Bool {
        if case .probing = breaker { return false }
        let wasOpen = !isTrusted
        close()
        (lastFailure, outage) = (nil, nil)
        return wasOpen
    }

    private mutating func close() {
        breaker = .closed
        failedCallers = []
        mayRepeatProbe = false
    }

    /// Bounded: who was forgotten may probe once more.
    private mutating func note(_ caller: Caller) {
        if failedCallers.count >= Limits.breakerCallersMax { failedCallers = [] }
        failedCallers.insert(caller)
    }

    /// Gives a slot back whose call was not made, so that nothing was learned.
    mutating func gaveUp(isCode: Bool, at now: WallTime) {
        if isCode { codesUnderWay -= 1 } else { callsUnderWay -= 1 }
        guard case .probing(let openings) = breaker else { return }
        breaker = .open(until: max(now, pausedUntil), openings: openings)
        codesOpenAt = now
    }

    /// `nil` if that takes an answer; never a time at which nothing could pass after all.
    func nextChance(after now: WallTime) -> WallTime? {
        if case .probing = breaker { return nil }
        let callAt =
            calls.isEmpty || !hasRoomForCall ? nil : max(opensAt ?? .distantPast, tokenAt(now))
        let codeAt =
            codes.isEmpty || !hasRoomForCode
            ? nil : max(opensAt.map { min($0, codesOpenAt) } ?? now, now)
        guard let chance = [callAt, codeAt].compactMap(\.self).min() else { return nil }
        return chance > now ? chance : nil
    }

    /// Codes beyond their own slots stand in slots of calls.
    private var hasRoomForCall: Bool {
        callsUnderWay + max(0, codesUnderWay - Limits.codeSlots) < limits.concurrency
    }

    private var hasRoomForCode: Bool {
        codesUnderWay < Limits.codeSlots || callsUnderWay + codesUnderWay < limits.concurrency
    }

    private func tokenAt(_ now: WallTime) -> WallTime {
        guard let rate = limits.ratePerSecond, tokens < 1, let refilledAt else { return now }
        let wait = Duration.milliseconds(Int64(((1 - tokens) / rate * 1000).rounded(.up)))
        return max(now, refilledAt + wait)
    }

    private mutating func open(_ openings: Int, at now: WallTime) -> Duration {
        let pause = RetryPolicy.breaker.delay(failures: openings)
        pausedUntil = now + pause
        codesOpenAt = now + min(pause, Limits.codeBackoffMax)
        breaker = .open(until: pausedUntil, openings: openings)
        return pause
    }

    func mayPass(at now: WallTime) -> Bool {
        switch breaker {
        case .closed: true
        case .open(let until, _): now >= until
        case .probing: false
        }
    }

    private func mayCodeProbe(at now: WallTime) -> Bool {
        guard case .open = breaker else { return false }
        return now >= codesOpenAt
    }

    private mutating func probeIfOpen() {
        guard case .open(_, let openings) = breaker else { return }
        breaker = .probing(openings: openings)
        mayRepeatProbe = false
    }

    private mutating func takeToken(at now: WallTime) -> Bool {
        guard let rate = limits.ratePerSecond else { return true }
        let elapsed = refilledAt.map { now.since($0) } ?? .zero
        refilledAt = now
        tokens = min(
            Self.burst(limits),
            tokens + Double(max(0, elapsed.milliseconds)) / 1000 * rate
        )
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }

    /// A tenth of a second's worth, so that a paced provider sees no burst after a pause.
    private static func burst(_ limits: LaneLimits) -> Double {
        max(1, (limits.ratePerSecond ?? 1) / 10)
    }
}

extension EffectFailure {
    /// Whether it tells that the provider as a whole is unwell, rather than one token.
    var speaksAgainstProvider: Bool {
        switch self {
        case .unreachable, .lost, .unusable: true
        case .refusesAll(let answer): answer.client == nil
        case .throttled, .rejected, .refused, .misconfigured, .notConfigured, .sealBroken,
            .vaultSealed, .keys, .blocked:
            false
        }
    }

    /// Whether everybody may be meeting the same: a limit, or what speaks against the provider.
    fileprivate var mayBeOutage: Bool {
        if case .throttled = self { true } else { speaksAgainstProvider }
    }

    /// Whether one such answer is enough to know that it concerns everybody.
    ///
    /// With an error code, and with these statuses, the provider may speak itself: some refuse each
    /// token so that they do not know. A wrong URL may have a code of its own (RFC 9110 §15.5.5,
    /// §15.5.6 and §15.5.11).
    fileprivate var concernsEverybody: Bool {
        guard case .refusesAll(let answer) = self, answer.client == nil else { return false }
        let ofOneToken = [400, 401, 409, 422]
        if answer.error == nil { return answer.status.map { !ofOneToken.contains($0) } ?? true }
        return answer.status.map { [404, 405, 410].contains($0) } ?? false
    }

    /// Whether the provider was asked at all; else nothing was learned about it.
    var wasAsked: Bool {
        switch self {
        case .unreachable, .throttled, .lost, .unusable, .rejected, .refused, .refusesAll,
            .misconfigured:
            true
        case .notConfigured, .sealBroken, .vaultSealed, .keys, .blocked: false
        }
    }

    /// The client id or directory that alone meets it.
    fileprivate var client: ProviderLane.Client? {
        switch self {
        case .refusesAll(let answer):
            answer.client.map { ProviderLane.Client(name: $0, isConfigured: true) }
        case .notConfigured(let name): ProviderLane.Client(name: name, isConfigured: false)
        default: nil
        }
    }
}
