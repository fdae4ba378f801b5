import Engine
import Lifecycle
import Sandbox
import TestSupport

@testable import HTTP
@testable import Providers

/// Every kind of fault at one provider, life after life.
struct FaultSweep {
    /// What one (provider, fault kind) brought.
    struct Cell: Sendable {
        let provider: SweptProvider
        let kind: FaultKind
        var lives = 0
        var faults = 0
        /// Lives that are not judged: a sign-in's answer was lost, and with it tokens.
        var unheard = 0
        var verdicts: [String: Int] = [:]
        var violations: [String] = []
        var took = Duration.zero

        var line: String {
            let counts = verdicts.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            let names = provider.rawValue.padded(20) + " " + kind.rawValue.padded(18)
            return
                "\(names) \(lives) lives in \(took.milliseconds) ms, \(faults) faults, "
                + "false \(violations.count), unheard \(unheard): "
                + counts.joined(separator: ", ")
        }
    }

    let provider: SweptProvider
    let seeds: ClosedRange<UInt64>
    /// Wraps the provider, to plant a bug.
    var plant: @Sendable (any IdentityProvider) -> any IdentityProvider = { $0 }

    /// A large sweep would only wait with a longer one.
    ///
    /// A healthy answer that comes later is lost, which may make no verdict false either.
    private var timeoutOfSilence: Duration { .milliseconds(seeds.count > 100 ? 60 : 500) }

    func run(_ kind: FaultKind) async throws -> Cell {
        let clock = ContinuousClock()
        let begun = clock.now
        var cell = try await judge(kind)
        cell.took = begun.duration(to: clock.now)
        return cell
    }

    private func judge(_ kind: FaultKind) async throws -> Cell {
        let clock = ManualTime()
        guard provider != .command else { return try await runProgram(kind, clock) }
        var configuration = SandboxConfiguration()
        configuration.wallMilliseconds = { clock.now.unixMilliseconds }
        configuration.oauth2.rotation = provider == .refresh ? .detectReuse : .rotate
        configuration.oauth2.unknownToken = provider == .blind ? .ok : .refused
        let sandbox = try await SandboxServer.start(configuration: configuration)
        do {
            let timeout = kind == .timeout ? timeoutOfSilence : .seconds(120)
            let place = ProviderPlace(sandbox, timeout: timeout)
            let connected = try provider.make(place) { clock.now }
            let world = SweptSandbox(provider: provider, sandbox: sandbox)
            do {
                let cell = try await live(connected, in: world, kind, clock)
                await connected.shutdown()
                try await sandbox.shutdown()
                return cell
            } catch {
                await connected.shutdown()
                throw error
            }
        } catch {
            try await sandbox.shutdown()
            throw error
        }
    }

    private func runProgram(_ kind: FaultKind, _ clock: ManualTime) async throws -> Cell {
        let world = try SweptProgram()
        defer {
            do { try world.remove() } catch { preconditionFailure("cannot clean up: \(error)") }
        }
        return try await live(world.make(PatientClock(time: clock)), in: world, kind, clock)
    }

    private func live(
        _ connected: any IdentityProvider,
        in world: any SweptWorld,
        _ kind: FaultKind,
        _ clock: ManualTime
    ) async throws -> Cell {
        var cell = Cell(provider: provider, kind: kind)
        var ends: [(seed: UInt64, user: String, verdict: Verdict)] = []
        let planted = plant(connected)
        for seed in seeds {
            // The stand-ins append the 1 themselves.
            let user = "user\(seed)x1"
            var life = FaultLife(planted, clientID: provider.clientID, clock: clock, seed: seed)
            try begin(&life, user, seed, in: world)
            world.fail(kind, seed: seed)
            let verdict = try await life.run()
            cell.lives += 1
            cell.violations += life.violations.map { "seed \(seed): \($0)" }
            guard let verdict else {
                cell.verdicts["none", default: 0] += 1
                continue
            }
            cell.verdicts[verdict.rawValue, default: 0] += 1
            // Where a revocation ends the grant it ends these tokens, too.
            if life.hasUnheardTokens, !provider.endsGrants {
                cell.unheard += 1
            } else {
                ends.append((seed, user, verdict))
            }
        }
        let left = try world.survivors()
        for end in ends {
            let isFalse: Bool
            switch end.verdict {
            case .proven, .accepted, .alreadyGone:
                isFalse =
                    left.tokens.contains(end.user)
                    || provider.endsGrants && left.grants.contains(end.user)
            case .tokenDead: isFalse = left.tokens.contains(end.user)
            case .nothingToRevoke: isFalse = true
            case .manual, .unconfirmed, .unrevoked, .abandoned: isFalse = false
            }
            if isFalse {
                cell.violations.append("seed \(end.seed): \(end.verdict.rawValue), but it is live")
            }
        }
        cell.faults = world.faultCount
        return cell
    }

    private func begin(
        _ life: inout FaultLife,
        _ user: String,
        _ seed: UInt64,
        in world: any SweptWorld
    ) throws {
        let all = FaultLife.Beginning.allCases
        let beginning = all[Int(seed % UInt64(all.count))]
        let first = beginning == .code ? try world.signIn(user) : try world.tokens(user)
        for credential in first.credentials { life.store(credential) }
        life.subject = first.subject
        switch beginning {
        case .code, .tokens: break
        case .secondSignIn:
            for credential in try world.signIn(user).credentials { life.store(credential) }
        case .withdrawn: try world.withdraw(user)
        }
    }
}

/// Tells virtual time and never strikes.
private struct PatientClock: EngineClock {
    let time: ManualTime

    func now() -> WallTime { time.now }

    func sleep(until time: WallTime) async throws {
        let (stream, _) = AsyncStream.makeStream(of: Void.self)
        for await _ in stream {}
        throw CancellationError()
    }
}

extension String {
    func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
