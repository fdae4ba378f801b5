import Lifecycle
import Testing

/// The five-minute lane: every phase × every event.
struct CodeExchangeTests {
    enum Column: String, CaseIterable {
        case begin, beginTooLate, exchanged, refused, restarted
        case unreachable, throttled, lost, unusable, misconfigured, sealBroken, vaultSealed
        case refusesAll

        var event: CodeExchange.Event {
            switch self {
            case .begin, .beginTooLate: .begin
            case .exchanged: .exchanged
            case .refused: .refused
            case .restarted: .restarted
            case .unreachable: .failure(.unreachable)
            case .throttled: .failure(.throttled(retryAfter: nil))
            case .lost: .failure(.lost)
            case .unusable: .failure(.unusable)
            case .misconfigured: .failure(.misconfigured)
            case .sealBroken: .failure(.sealBroken)
            case .vaultSealed: .failure(.vaultSealed)
            case .refusesAll: .failure(Self.page)
            }
        }

        static let page = EffectFailure.refusesAll(Refusal(status: 403))

        var age: Duration {
            self == .beginTooLate ? Limits.codeAgeMax + .milliseconds(1) : Limits.codeAgeMax
        }
    }

    /// Phase and effect after each event, in the order of the columns; `.` is nothing at all.
    static let table: [(CodeExchange.Phase, [String])] = [
        (
            .pending,
            [
                "exchanging +exchange", "expired +settled", ".", ".", ".",
                ".", ".", ".", ".", ".", ".", ".", ".",
            ]
        ),
        (
            .exchanging,
            [
                ".", ".", "exchanged +settled", "refused +settled", "unknown +settled",
                "pending +retry", "pending +retry", "unknown +settled", "unknown +settled",
                "pending +pause", "unknown +settled", "pending +retry", "pending +retry",
            ]
        ),
        (.exchanged, nothing), (.refused, nothing), (.unknown, nothing), (.expired, nothing),
    ]

    static let nothing = Array(repeating: ".", count: Column.allCases.count)

    @Test("every phase does what the table says", arguments: table)
    func phase(_ phase: CodeExchange.Phase, _ expected: [String]) {
        #expect(expected.count == Column.allCases.count)
        for (column, text) in zip(Column.allCases, expected) {
            #expect(outcome(of: column, in: phase) == text, "\(phase) × \(column)")
        }
    }

    @Test func `the table has every phase`() {
        #expect(Self.table.map(\.0) == CodeExchange.Phase.allCases)
    }

    @Test(
        "only an exchange that provably did not happen is tried again, soon",
        arguments: [nil, Duration.seconds(-5), .zero, .seconds(2), .seconds(86_400)]
    )
    func retry(_ retryAfter: Duration?) throws {
        var exchange = exchange(.exchanging)
        var random = SeededGenerator(seed: 3)
        let now = Sample.start
        let effects = exchange.handle(
            .failure(.throttled(retryAfter: retryAfter)),
            now: now,
            random: &random
        )
        #expect(effects == [.retry])
        let delay = try #require(exchange.retryAt).since(now)
        #expect(delay > .zero)
        #expect(delay <= Limits.codeBackoffMax)
        #expect(delay >= min(retryAfter ?? .zero, Limits.codeBackoffMax))
        #expect(exchange.failures == 1)
        #expect(exchange.handle(.begin, now: now, random: &random) == [.exchange])
        #expect(exchange.retryAt == nil)
    }

    @Test func `after a jump of the clock, an exchange that waits is due at once`() {
        var exchange = exchange(.exchanging)
        var random = SeededGenerator(seed: 3)
        let now = Sample.start + .seconds(86_400)
        exchange.reclock(ClockStep(from: now, to: now, by: .seconds(-9)), at: Sample.start)
        #expect(exchange.retryAt == nil)
        _ = exchange.handle(.failure(.unreachable), now: now, random: &random)
        exchange.reclock(ClockStep(from: now, to: now, by: .seconds(-9)), at: Sample.start)
        #expect(exchange.retryAt == Sample.start)
    }

    /// What else comes before the end, how the exchange ends, and what is known then.
    static let endings: [([Column], Column, CodeExchange.Phase)] = [
        ([.begin], .refused, .unknown), ([.begin], .exchanged, .exchanged),
        ([], .beginTooLate, .unknown), ([.begin, .unreachable, .begin], .refused, .unknown),
        ([.begin, .misconfigured, .begin], .refused, .unknown),
        ([.begin, .throttled], .beginTooLate, .unknown),
    ]

    @Test("a code that a page answered may be spent", arguments: endings)
    func afterPage(_ between: [Column], _ last: Column, _ phase: CodeExchange.Phase) {
        var exchange = exchange(.pending)
        var random = SeededGenerator(seed: 3)
        for column in [.begin, .refusesAll] + between + [last] {
            let now = Sample.start + column.age
            #expect(!exchange.handle(column.event, now: now, random: &random).isEmpty)
        }
        #expect(exchange.phase == phase)
    }

    @Test(
        "a code of a client that is refused or not configured waits, and is not in doubt",
        arguments: [
            EffectFailure.refusesAll(Refusal(status: 401, error: "invalid_client", client: "app")),
            .notConfigured(client: "app"),
        ]
    )
    func client(_ failure: EffectFailure) {
        var exchange = exchange(.pending)
        var random = SeededGenerator(seed: 3)
        _ = exchange.handle(.begin, now: Sample.start, random: &random)
        let effects = exchange.handle(.failure(failure), now: Sample.start, random: &random)
        #expect(effects == [.retry])
        #expect(exchange.phase == .pending && !exchange.isInDoubt)
    }

    @Test func `a code from the future is not too old`() {
        var exchange = exchange(.pending)
        var random = SeededGenerator(seed: 3)
        let effects = exchange.handle(.begin, now: .distantPast, random: &random)
        #expect(effects == [.exchange])
    }

    @Test func `a final phase destroys the code, an open one keeps it`() {
        let final = CodeExchange.Phase.allCases.filter(\.isFinal)
        #expect(final == [.exchanged, .refused, .unknown, .expired])
    }

    private func exchange(_ phase: CodeExchange.Phase) -> CodeExchange {
        CodeExchange(
            credential: Sample.token,
            identity: Sample.identity,
            provider: Sample.apple,
            createdAt: Sample.start,
            phase: phase
        )
    }

    private func outcome(of column: Column, in phase: CodeExchange.Phase) -> String {
        var exchange = exchange(phase)
        var random = SeededGenerator(seed: 3)
        let before = exchange
        let effects = exchange.handle(
            column.event,
            now: Sample.start + column.age,
            random: &random
        )
        if exchange == before, effects.isEmpty { return "." }
        let words = effects.map { effect in
            switch effect {
            case .exchange: "+exchange"
            case .retry: "+retry"
            case .pauseProvider: "+pause"
            case .settled: "+settled"
            }
        }
        return ([exchange.phase.rawValue] + words).joined(separator: " ")
    }
}
