import Daemon
import Foundation

// Foundation for the environment only; FoundationEssentials has no ProcessInfo on Linux.
let status = await DaemonCommand.run(
    Array(CommandLine.arguments.dropFirst()),
    environment: ProcessInfo.processInfo.environment
)
exit(status)
