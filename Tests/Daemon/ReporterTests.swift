import Engine
import Lifecycle
import Testing

@testable import Daemon

@Suite("What the engine did, in the journal") struct ReporterTests {
    private static let name = ProviderName("apple")
    private static let store = StoreName("app-db")

    private func reporter(_ log: LogBook) -> Reporter {
        Reporter(
            logger: log.logger,
            hub: EventHub(),
            now: { Bench.start },
            signalMirror: {}
        )
    }

    @Test("a pause is an error, but not where an operator asked for it")
    func pauses() {
        let log = LogBook()
        for reason in ["misconfigured", PauseReason.byOperator] {
            reporter(log).reported(.providerPaused(Self.name, reason: reason))
            reporter(log).reported(.storePaused(Self.store, reason: reason))
        }
        #expect(
            log.all == [
                "providerPaused error=misconfigured provider=apple",
                "storePaused error=misconfigured store=app-db",
            ]
        )
    }

    @Test("what stops all requests has one entry, and none for each of them")
    func waiting() throws {
        let id = RequestID(TimeOrderedID(high: 0x0190_0000_0000_7001, low: 1 << 63))
        let log = LogBook()
        for reason in ParkReason.allCases { reporter(log).announced(.parked(reason), of: id) }
        let once: Set<ParkReason> = [
            .providerPaused, .storePaused, .massDeletionGuard, .clockBehind,
        ]
        let expected = ParkReason.allCases.filter { !once.contains($0) }.map { reason in
            reason == .quarantined
                ? "requestQuarantined request.id=\(id)"
                : "requestParked detail=\(reason.rawValue) request.id=\(id)"
        }
        #expect(log.all == expected)
    }
}
