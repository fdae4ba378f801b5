import CLinux
import Engine
import Glibc
import Subprocess
import Synchronization
import SystemPackage

/// One run of a program: in a session of its own, so that what it starts ends with it, and with an
/// end.
///
/// Standard error is discarded: it may quote the input.
struct ProgramRun: Sendable {
    enum End<Output: Sendable>: Sendable {
        case exited(Int32, Output)
        /// Nothing was started: the task was cancelled before.
        case cancelled
        /// Nothing was done: the program cannot be started, or its memory not be limited.
        case unusable
        /// Out of time, too much output, or ended by a signal: the program may have acted.
        case lost
    }

    /// From SIGTERM to SIGKILL once the time is up.
    private static let killDelay = Duration.seconds(2)

    private struct Unbounded: Error {}

    let program: String
    let arguments: [String]
    /// Of its environment, `PATH`.
    let path: String
    let timeout: Duration
    var memoryMax: Int?
    var sleep: Sleep = BootClock.sleeping

    func end<Output: OutputProtocol>(
        input: [UInt8],
        output: Output
    ) async -> End<Output.OutputType> {
        // A program that ends before it has read its input must not end the daemon (signal(7)).
        // systemd ignores the signal for its services; other ways to start may not.
        _ = signal(SIGPIPE, SIG_IGN)
        // Leads its session and group; 0 before it runs and after.
        let leader = Mutex<pid_t>(0)
        let isLate = Atomic(false)
        // Cancelling ends the program, and its end is awaited.
        let end = await BootClock.within(
            timeout,
            late: .lost,
            sleep: { time in
                try await sleep(time)
                isLate.store(true, ordering: .relaxed)
                // swift-subprocess would wait for SIGKILL by a timer of libdispatch's.
                guard leader.withLock({ $0 > 0 && kill(-$0, SIGTERM) == 0 }) else { return }
                try await BootClock.sleep(for: Self.killDelay)
                leader.withLock { if $0 > 0 { kill(-$0, SIGKILL) } }
            },
            {
                let end = await start(input, output) { id in leader.withLock { $0 = id } }
                leader.withLock { id in
                    // What it started may ignore SIGTERM. One that exits may leave others to work.
                    var isOver = false
                    if case .exited = end { isOver = !isLate.load(ordering: .relaxed) }
                    if id > 0, !isOver { kill(-id, SIGKILL) }
                    id = 0
                }
                return end
            }
        )
        return isLate.load(ordering: .relaxed) ? .lost : end
    }

    private func start<Output: OutputProtocol>(
        _ input: [UInt8],
        _ output: Output,
        _ running: @escaping @Sendable (pid_t) -> Void
    ) async -> End<Output.OutputType> {
        guard !Task.isCancelled else { return .cancelled }
        var options = PlatformOptions()
        options.createSession = true
        options.teardownSequence = [
            .gracefulShutDown(toProcessGroup: true, allowedDurationToNextStep: Self.killDelay)
        ]
        do {
            let result = try await Subprocess.run(
                .path(FilePath(program)),
                arguments: Arguments(arguments),
                environment: .custom(["PATH": path, "LANG": "C.UTF-8"]),
                workingDirectory: FilePath("/"),
                platformOptions: options,
                input: .inputWriter,
                output: output,
                error: .discarded
            ) { execution in
                let process = execution.processIdentifier.value
                running(process)
                // Before the input is there, so that nothing is worked on without the limit.
                if let memoryMax {
                    let status = clinux_limit_memory(process, UInt64(memoryMax))
                    guard status == 0 || status == -ESRCH else { throw Unbounded() }
                }
                // Written here and not given as input: swift-subprocess 1.0.2 traps when it cannot
                // write an input to a program that has ended.
                do {
                    _ = try await execution.standardInputWriter.write(input)
                } catch {
                    // A program that does not read its input may have worked all the same.
                    return
                }
            }
            guard case .exited(let status) = result.terminationStatus else { return .lost }
            return .exited(status, result.standardOutput)
        } catch let error as SubprocessError
            where [.executableNotFound, .spawnFailed].contains(error.code)
        {
            return .unusable
        } catch is Unbounded {
            return .unusable
        } catch {
            return .lost
        }
    }
}
