package import Engine
import Glibc
package import HTTP
package import Lifecycle
import Subprocess
import SystemPackage

/// A provider that a configured program speaks to: one JSON request on its standard input, one
/// JSON answer on its standard output.
///
/// The contract is docs/providers/command.md. No secret is in the arguments or the environment,
/// where other processes could read it (proc(5)); both are the same for every call. What the
/// program writes to standard error is discarded, since it may quote a token.
package final class CommandProvider: ConnectedProvider {
    /// Bytes of an answer; tokens are 8 KiB at most, and there are three of them.
    static let outputMax = 65_536
    /// From SIGTERM to SIGKILL once the time is up.
    static let killDelay = Duration.seconds(2)

    package let name: ProviderName
    package let traits: ProviderTraits

    private let settings: CommandSettings
    private let clock: any EngineClock

    /// Prepares the provider; the program is started for each call, and not before.
    ///
    /// - Parameters:
    ///   - settings: What the operator configured.
    ///   - clock: Bounds each run.
    /// - Throws: ``SetupError`` when the program's path is not absolute.
    package init(_ settings: CommandSettings, clock: any EngineClock) throws(SetupError) {
        name = settings.name
        guard settings.program.hasPrefix("/"), !settings.clientIDs.isEmpty else {
            throw SetupError(kind: .malformedClient, provider: settings.name.rawValue)
        }
        self.settings = settings
        self.clock = clock
        // A program that ends before it has read its input must not end the daemon (signal(7)).
        // systemd ignores the signal for its services; other ways to start may not.
        _ = signal(SIGPIPE, SIG_IGN)
        traits = ProviderTraits(
            canCheckRefreshToken: settings.canCheck,
            refreshInterval: .seconds(86_400),
            livenessLifetime: settings.canCheck ? .seconds(86_400) : .zero,
            revokesWholeGrant: settings.revokesWholeGrant,
            invalidTokenProvesGone: false,
            userActionURL: settings.userActionURL,
            userActionText: settings.userActionText
        )
    }

    /// Nothing is held between calls.
    package func shutdown() async {}

    /// Has the program exchange an authorization code.
    package func exchange(_ code: OpenCredential) async -> ExchangeAnswer {
        switch await ask("exchange", code) {
        case .answer(let json): CommandAnswers.exchange(json)
        case .trouble(let trouble): .trouble(trouble)
        }
    }

    /// Has the program ask about a token; one that it rotated is kept before anything is said.
    package func check(_ credential: OpenCredential) async -> CheckAnswer {
        switch await ask("check", credential) {
        case .answer(let json):
            let (answer, rotated) = CommandAnswers.check(json)
            guard let rotated else { return answer }
            return await credential.keeper?.keep(rotated) ?? false ? answer : .trouble(.lost)
        case .trouble(let trouble): return .trouble(trouble)
        }
    }

    /// Has the program revoke a token.
    package func revoke(_ credential: OpenCredential) async -> RevokeAnswer {
        switch await ask("revoke", credential) {
        case .answer(let json): CommandAnswers.revoke(json)
        case .trouble(let trouble): .trouble(trouble)
        }
    }

    /// The contract has no id tokens.
    package func verify(_ signIn: SignIn) async throws(SignInError) -> VerifiedSignIn {
        throw SignInError(kind: .unsupported, provider: name)
    }

    /// Has the program look at its own set-up.
    package func diagnose() async -> Trouble? {
        var request = JSONBody()
        begin(&request, "diagnose")
        switch await run(request) {
        case .answer(let json): return CommandAnswers.diagnose(json)
        case .trouble(let trouble): return trouble
        }
    }

    private func begin(_ request: inout JSONBody, _ operation: String) {
        request.add("version", 1)
        request.add("operation", operation)
        request.add("provider", name.rawValue)
    }

    private func ask(_ operation: String, _ credential: OpenCredential) async -> CommandOutcome {
        guard settings.clientIDs.contains(credential.clientID) else {
            return .trouble(.misconfigured)
        }
        var request = JSONBody()
        begin(&request, operation)
        request.add("client_id", credential.clientID)
        request.add("kind", credential.kind.rawValue)
        request.add("secret", credential.secret)
        if let subject = credential.subject { request.add("subject", subject) }
        if let redirectURI = credential.redirectURI { request.add("redirect_uri", redirectURI) }
        if let verifier = credential.codeVerifier { request.add("code_verifier", verifier) }
        return await run(request)
    }

    /// Runs the program once, until it ends or its time is up.
    private func run(_ request: JSONBody) async -> CommandOutcome {
        let deadline = clock.now() + settings.timeout
        let clock = clock
        return await withTaskGroup(of: CommandOutcome?.self) { group in
            group.addTask { await self.start(request) }
            group.addTask {
                do {
                    try await clock.sleep(until: deadline)
                } catch {
                    return nil
                }
                return .trouble(.lost)
            }
            // Cancelling the other child tears the program down, and the group waits for that.
            defer { group.cancelAll() }
            while let outcome = await group.next() {
                if let outcome { return outcome }
            }
            return .trouble(.lost)
        }
    }

    private func start(_ request: JSONBody) async -> CommandOutcome {
        guard !Task.isCancelled else { return .trouble(.unreachable) }
        do {
            let result = try await Subprocess.run(
                .path(FilePath(settings.program)),
                arguments: Arguments(settings.arguments),
                environment: .custom(["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"]),
                workingDirectory: FilePath("/"),
                platformOptions: Self.options,
                input: .inputWriter,
                output: .bytes(limit: Self.outputMax),
                error: .discarded
            ) { execution in
                // Written here and not given as input: swift-subprocess 1.0.2 traps when it cannot
                // write an input to a program that has ended.
                do {
                    _ = try await execution.standardInputWriter.write(request.bytes)
                } catch {
                    // A program that does not read its input may answer all the same.
                    return
                }
            }
            guard case .exited(let status) = result.terminationStatus else {
                return .trouble(.lost)
            }
            return CommandOutcome(status: status, output: result.standardOutput)
        } catch let error as SubprocessError
            where [.executableNotFound, .spawnFailed].contains(error.code)
        {
            return .trouble(.misconfigured)
        } catch {
            // Too much output, a closed input, a cancelled run: the program may have acted.
            return .trouble(.lost)
        }
    }

    /// A session of its own, so that what the program started ends with it.
    private static var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: killDelay)
        ]
        return options
    }
}
