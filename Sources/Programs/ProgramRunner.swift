import CLinux
import Encoding
package import Engine
import Glibc
package import HTTP
import Lifecycle
import Subprocess
import SystemPackage

/// Runs a configured program: one JSON request on its standard input, one JSON answer on its
/// standard output.
///
/// No shell. Other processes can read arguments and environment (proc(5)), so these hold no secret
/// and no personal data. Standard error is discarded: it may quote the request.
package struct ProgramRunner: Sendable {
    /// Bytes of an answer; tokens are 8 KiB at most, and there are three of them.
    package static let outputMax = 65_536
    /// From SIGTERM to SIGKILL once the time is up.
    static let killDelay = Duration.seconds(2)

    private struct Unbounded: Error {}

    private let program: String
    private let arguments: [String]
    private let timeout: Duration
    private let memoryMax: Int?
    private let clock: any EngineClock

    /// `nil` when the path is not absolute.
    ///
    /// `timeout` bounds the whole life of one run, and `memoryMax` the bytes of private memory of
    /// each process (`RLIMIT_DATA`, getrlimit(2)).
    package init?(
        program: String,
        arguments: [String],
        timeout: Duration,
        memoryMax: Int? = nil,
        clock: any EngineClock
    ) {
        guard program.hasPrefix("/") else { return nil }
        self.program = program
        self.arguments = arguments
        self.timeout = timeout
        self.memoryMax = memoryMax
        self.clock = clock
        // A program that ends before it has read its input must not end the daemon (signal(7)).
        // systemd ignores the signal for its services; other ways to start may not.
        _ = signal(SIGPIPE, SIG_IGN)
    }

    package func run(_ request: JSONBody) async -> ObjectReply {
        let deadline = clock.now() + timeout
        return await withTaskGroup(of: ObjectReply?.self) { group in
            group.addTask { await self.start(request) }
            group.addTask { [clock] in
                do {
                    try await clock.sleep(until: deadline)
                } catch {
                    return nil
                }
                return .failure(.lost)
            }
            // Cancelling the other child ends the program, and the group waits for that.
            defer { group.cancelAll() }
            while let outcome = await group.next() {
                if let outcome { return outcome }
            }
            return .failure(.lost)
        }
    }

    private func start(_ request: JSONBody) async -> ObjectReply {
        guard !Task.isCancelled else { return .failure(.unreachable) }
        do {
            let result = try await Subprocess.run(
                .path(FilePath(program)),
                arguments: Arguments(arguments),
                environment: .custom(["PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"]),
                workingDirectory: FilePath("/"),
                platformOptions: Self.options,
                input: .inputWriter,
                output: .bytes(limit: Self.outputMax),
                error: .discarded
            ) { [memoryMax] execution in
                // Before the request is there, so that nothing is worked on without the limit.
                if let memoryMax {
                    let process = execution.processIdentifier.value
                    let status = clinux_limit_memory(process, UInt64(memoryMax))
                    guard status == 0 || status == -ESRCH else { throw Unbounded() }
                }
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
                return .failure(.lost)
            }
            return ObjectReply(status: status, output: result.standardOutput)
        } catch let error as SubprocessError
            where [.executableNotFound, .spawnFailed].contains(error.code)
        {
            return .failure(.misconfigured)
        } catch is Unbounded {
            return .failure(.misconfigured)
        } catch {
            // Too much output, a closed input, a cancelled run: the program may have acted.
            return .failure(.lost)
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

extension ObjectReply {
    /// Classifies an exit status and an output; docs/providers/command.md is the contract.
    ///
    /// After any status but the two of sysexits.h(3) the program may have acted.
    init(status: Int32?, output: [UInt8]) {
        switch status {
        case 0:
            guard let json = JSONValue(output), case .object = json else {
                self = .failure(.unusable)
                return
            }
            self = .answer(json)
        // EX_UNAVAILABLE: the program promises that nothing was sent.
        case 69: self = .failure(.unreachable)
        // EX_CONFIG.
        case 78: self = .failure(.misconfigured)
        default: self = .failure(.lost)
        }
    }
}
