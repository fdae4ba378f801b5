package import Engine
import Glibc
import Lifecycle
import Subprocess
import SystemPackage

/// Runs a sendmail(8): the message on its standard input, and its recipients in the message.
///
/// They are not arguments, since other processes can read those (proc(5)).
package struct SendmailRunner: Sendable {
    /// How a run ended.
    package enum Outcome: Hashable, Sendable {
        case exited(Int32)
        /// Nothing was started.
        case notRun
        /// Out of time, or ended by a signal: the message may have been taken.
        case lost
    }

    private let program: String
    private let sender: String
    private let timeout: Duration
    private let clock: any EngineClock

    /// `sender` gets what bounces; `timeout` bounds the whole run.
    package init(program: String, sender: String, timeout: Duration, clock: any EngineClock) {
        (self.program, self.sender, self.timeout) = (program, sender, timeout)
        self.clock = clock
        // As in ProgramRunner.
        _ = signal(SIGPIPE, SIG_IGN)
    }

    package func run(_ message: [UInt8]) async -> Outcome {
        let deadline = clock.now() + timeout
        return await withTaskGroup(of: Outcome?.self) { group in
            group.addTask { await self.start(message) }
            group.addTask { [clock] in
                do {
                    try await clock.sleep(until: deadline)
                } catch {
                    return nil
                }
                return .lost
            }
            defer { group.cancelAll() }
            while let outcome = await group.next() {
                if let outcome { return outcome }
            }
            return .lost
        }
    }

    private func start(_ message: [UInt8]) async -> Outcome {
        guard !Task.isCancelled else { return .notRun }
        do {
            let result = try await Subprocess.run(
                .path(FilePath(program)),
                arguments: ["-t", "-i", "-f", sender],
                environment: .custom(["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8"]),
                workingDirectory: FilePath("/"),
                platformOptions: Self.options,
                input: .inputWriter,
                output: .discarded,
                error: .discarded
            ) { execution in
                do {
                    _ = try await execution.standardInputWriter.write(message)
                } catch {
                    // Its exit status says what became of the message.
                    return
                }
            }
            guard case .exited(let status) = result.terminationStatus else { return .lost }
            return .exited(status)
        } catch let error as SubprocessError
            where [.executableNotFound, .spawnFailed].contains(error.code)
        {
            return .notRun
        } catch {
            return .lost
        }
    }

    private static var options: PlatformOptions {
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(
                toProcessGroup: true,
                allowedDurationToNextStep: ProgramRunner.killDelay
            )
        ]
        return options
    }
}
