import Engine
import FoundationEssentials
import Lifecycle
import Sandbox
import TestSupport
import Testing

@testable import Providers

/// Every kind of fault × every provider: real providers, real state machine, the stand-ins' own
/// state as the judge.
///
/// `make fault-sweep` runs 1,000 seeds of each; `SWEEP_SEEDS=17` replays one.
@Suite("fault sweep")
struct FaultSweepTests {
    /// A slice, since a suite is to be quick.
    static let usual: ClosedRange<UInt64> = 1...8

    static var seeds: ClosedRange<UInt64> { Seeds.chosen("SWEEP_SEEDS") ?? usual }

    @Test("no fault of any kind at any provider makes a false verdict")
    func noFalseVerdict() async throws {
        let progress = SweepProgress(of: FaultKind.allCases.count)
        let cells = try await Self.sweep(
            SweptProvider.allCases,
            FaultKind.allCases,
            Self.seeds,
            report: progress.add
        )
        for cell in cells {
            #expect(
                cell.violations.isEmpty,
                "\(cell.provider.rawValue) × \(cell.kind.rawValue): \(cell.violations.prefix(3))"
            )
        }
        let lives = cells.reduce(0) { $0 + $1.lives }
        let faults = cells.reduce(0) { $0 + $1.faults }
        SweepProgress.say("\(cells.count) pairs, \(lives) lives, \(faults) faults")
        // Nothing is shown by calls that did not fail, or by lives that came to nothing.
        #expect(cells.allSatisfy { $0.faults > 0 })
        #expect(
            cells.allSatisfy { cell in
                ["proven", "accepted"].contains { cell.verdicts[$0] ?? 0 > 0 }
            }
        )
    }

    @Test("a 503 that is taken for success turns the sweep red")
    func believesUnavailable() async throws {
        let cells = try await Self.sweep([.facebook, .blind], [.unavailable], 1...60) {
            Gullible($0, { $0.isThrottled }, .success)
        }
        #expect(cells.allSatisfy { !$0.violations.isEmpty })
    }

    @Test("a page that is taken for a refused token turns the sweep red")
    func believesPage() async throws {
        let cells = try await Self.sweep([.introspection, .xOAuth2], [.html], 1...60) {
            Gullible($0, { $0 == .unusable }, .alreadyInvalid)
        }
        #expect(cells.allSatisfy { !$0.violations.isEmpty })
    }

    static func sweep(
        _ providers: [SweptProvider],
        _ kinds: [FaultKind],
        _ seeds: ClosedRange<UInt64>,
        plant: @escaping @Sendable (any IdentityProvider) -> any IdentityProvider = { $0 },
        report: (FaultSweep.Cell) -> Void = { _ in }
    ) async throws -> [FaultSweep.Cell] {
        let pairs = providers.flatMap { provider in kinds.map { (provider, $0) } }
        return try await withThrowingTaskGroup(of: (Int, FaultSweep.Cell).self) { group in
            var next = pairs.indices.makeIterator()
            var cells: [Int: FaultSweep.Cell] = [:]
            func add() {
                guard let index = next.next() else { return }
                let (provider, kind) = pairs[index]
                group.addTask {
                    let sweep = FaultSweep(provider: provider, seeds: seeds, plant: plant)
                    return (index, try await sweep.run(kind))
                }
            }
            // More than there are cores, since some kinds only wait.
            for _ in 0..<6 { add() }
            for try await (index, cell) in group {
                cells[index] = cell
                report(cell)
                add()
            }
            return cells.sorted { $0.key < $1.key }.map(\.value)
        }
    }
}

/// Believes one kind of failure at a revocation.
private struct Gullible: ProviderAdapter {
    let inner: any IdentityProvider
    let isBelieved: @Sendable (EffectFailure) -> Bool
    let belief: RevokeAnswer

    init(
        _ inner: any IdentityProvider,
        _ isBelieved: @escaping @Sendable (EffectFailure) -> Bool,
        _ belief: RevokeAnswer
    ) {
        self.inner = inner
        self.isBelieved = isBelieved
        self.belief = belief
    }

    var name: ProviderName { inner.name }
    var traits: ProviderTraits { inner.traits }

    func serves(_ clientID: String) -> Bool { true }

    func exchange(_ code: OpenCredential) async -> ExchangeAnswer { await inner.exchange(code) }
    func check(_ credential: OpenCredential) async -> CheckAnswer { await inner.check(credential) }

    func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        let answer = await inner.revoke(credential)
        if case .failure(let failure) = answer, isBelieved(failure) { return belief }
        return answer
    }

    func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        try await inner.verify(signIn)
    }

    func diagnose() async -> EffectFailure? { await inner.diagnose() }
}

extension EffectFailure {
    fileprivate var isThrottled: Bool {
        if case .throttled = self { true } else { false }
    }
}
