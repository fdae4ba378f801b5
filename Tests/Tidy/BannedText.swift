/// Text that must not appear, and what to write instead.
struct BannedText: Sendable {
    let name: String
    let needles: [String]
    let replacement: String
    /// Where the rule holds, by the beginning of the path.
    var scope = ["Sources/", "Tests/"]
    /// Where it does not.
    var exempt: [String] = []
    /// Whether a file that is named after a clock may do it: somebody has to.
    var isForClocks = false
    /// Whether comments and string literals count, too.
    var isRaw = false

    var rule: Rule {
        Rule(name) { file in
            guard applies(to: file) else { return [] }
            return needles.flatMap { needle in
                let offsets = isRaw ? file.rawOffsets(of: needle) : file.uses(of: needle)
                return offsets.map {
                    (file.line(of: $0), "'\(needle.filter { $0 != "\n" })': \(replacement)")
                }
            }
        }
    }

    private func applies(to file: SourceFile) -> Bool {
        guard isRaw || file.isSwift else { return false }
        if isForClocks, file.name.hasSuffix("Clock.swift") { return false }
        return scope.contains { file.path.hasPrefix($0) }
            && !exempt.contains { file.path.hasPrefix($0) }
    }

    private static let programs = [
        "Sources/expunged/", "Sources/expungectl/", "Sources/expunged-sandbox/",
    ]

    static let all: [BannedText] = [
        BannedText(
            name: "detached-task",
            needles: ["Task.detached"],
            replacement: "a child of a task group, so that its owner awaits it"
        ),
        BannedText(
            name: "unowned-task",
            needles: ["Task {", "Task(", "Task.immediate"],
            replacement: "a task group; or store, cancel and await it in a named owner and allow it"
        ),
        BannedText(
            name: "force-try",
            needles: ["try!"],
            replacement: "'try' and let the caller decide, or 'preconditionFailure' with a reason"
        ),
        BannedText(
            name: "optional-try",
            needles: ["try?"],
            replacement: "'do' and 'catch' that says what is ignored and why"
        ),
        BannedText(
            name: "empty-catch",
            needles: ["catch {}", "catch { }"],
            replacement: "say in the block what is ignored and why"
        ),
        BannedText(
            name: "unchecked-sendable",
            needles: ["@unchecked Sendable"],
            replacement: "a value type, a Mutex or an actor; in a shim with its reason, allow it"
        ),
        BannedText(
            name: "nonisolated-unsafe",
            needles: ["nonisolated(unsafe)"],
            replacement: "a Mutex; in a shim with its reason, allow it"
        ),
        BannedText(
            name: "one-json",
            needles: ["JSONEncoder(", "JSONDecoder("],
            replacement: "TypedJSON, which writes one form and reads strictly",
            scope: ["Sources/"],
            exempt: ["Sources/Encoding/"]
        ),
        BannedText(
            name: "json-text",
            needles: ["#\"{\"", "\"{\\\""],
            replacement: "JSONWriter, which escapes what stands inside",
            scope: ["Sources/"],
            exempt: ["Sources/Encoding/"],
            isRaw: true
        ),
        BannedText(
            name: "one-base64",
            needles: ["base64Encoded"],
            replacement: "Base64 or Base64URL, which read strictly",
            scope: ["Sources/"],
            exempt: ["Sources/Encoding/"],
            isRaw: true
        ),
        BannedText(
            name: "wall-clock",
            needles: ["Date()", "Date.now"],
            replacement: "the clock that comes in through init (WallTime)",
            isForClocks: true
        ),
        BannedText(
            name: "real-sleep",
            needles: [
                "Task.sleep", "Task<Never, Never>.sleep", "Thread.sleep", "sleep(", "usleep(",
                "nanosleep(", "ContinuousClock().sleep", "SuspendingClock().sleep",
                "BootClock.sleep(",
            ],
            replacement: "the clock that comes in through init; in a test, await a signal",
            isForClocks: true
        ),
        BannedText(
            name: "dispatch-timer",
            needles: [
                "Task.sleep", "Task<Never, Never>.sleep", "ContinuousClock()", "SuspendingClock()",
                "ContinuousClock.continuous", ".continuous", ".suspending",
            ],
            replacement: "BootClock, whose sleeps do not end with libdispatch's timers",
            scope: ["Sources/"],
            exempt: programs + ["Sources/ControlClient/"]
        ),
        BannedText(
            name: "print",
            needles: ["print(", "debugPrint(", "dump("],
            replacement: "a Logger, or return the text to the program",
            scope: ["Sources/"],
            exempt: programs
        ),
        BannedText(
            name: "unnamed-log-entry",
            needles: ["logger.warning(", "logger.error(", "logger.critical(", "logger.log("],
            replacement: "'note' with an event, so that the entry has an id and a catalog text",
            scope: ["Sources/"],
            isRaw: true
        ),
        BannedText(
            name: "dispatch",
            needles: ["DispatchQueue", "DispatchSemaphore", "DispatchGroup"],
            replacement: "structured concurrency, a Mutex or an actor"
        ),
        BannedText(
            name: "public",
            needles: ["public ", "open class ", "open func "],
            replacement: "'package' when another module uses it; nothing is a product"
        ),
        BannedText(
            name: "whole-foundation",
            needles: ["import Foundation\n"],
            replacement: "'import FoundationEssentials'"
        ),
        BannedText(
            name: "fix-me",
            needles: ["FIXME", "XXX:", "HACK:"],
            replacement: "repair it, or open an issue and write its number",
            scope: [""],
            isRaw: true
        ),
        BannedText(
            name: "place",
            needles: ["/root/", "/work/", "/Users/"],
            replacement: "a path that holds on every machine, or what a command prints",
            scope: [""],
            exempt: ["Tests/Tidy/"],
            isRaw: true
        ),
        BannedText(
            name: "build-product",
            needles: [".build/", "Package.resolved"],
            replacement: "the build directory is the package manager's; take paths from the caller",
            scope: ["Sources/", "Config/"],
            isRaw: true
        ),
        BannedText(
            name: "sqlite-only",
            needles: [
                "ifnull(", "iif(", " OR IGNORE ", " OR REPLACE ", "ON CONFLICT DO UPDATE", " IS ?",
                " IS NOT ?",
            ],
            replacement: "what PostgreSQL understands, too: coalesce, CASE, ON CONFLICT (key) DO, "
                + "IS NOT DISTINCT FROM",
            scope: ["Sources/Storage/"],
            // The spool is a file of SQLite, and each database has a schema of its own.
            exempt: [
                "Sources/Storage/Spool/Spool", "Sources/Storage/Queue/",
                "Sources/Storage/Database/SQLite/",
            ],
            isRaw: true
        ),
    ]
}
