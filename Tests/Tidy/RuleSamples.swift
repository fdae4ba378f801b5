extension RuleTests {
    static let samples: [RuleSample] =
        importSamples + sizeSamples + fileSamples + docSamples + textSamples + proseSamples
        + typeSamples

    private static let importSamples = [
        RuleSample(
            "imports",
            bad: SourceFile(
                "Sources/Storage/A.swift",
                "package import Engine\ninternal import Vault\n"
            ),
            lines: [2],
            good: SourceFile("Sources/Storage/A.swift", "package import Engine\nimport GRDB\n")
        ),
        RuleSample(
            "imports",
            bad: SourceFile("Sources/Engine/A.swift", "@testable import struct GRDB.Row\n"),
            good: SourceFile("Sources/Engine/A.swift", "// import GRDB\nimport Glibc\n")
        ),
        RuleSample(
            "imports",
            bad: SourceFile("Sources/Lifecycle/A.swift", "import Engine\n"),
            good: SourceFile("Tests/Lifecycle/A.swift", "import Testing\nimport Lifecycle\n")
        ),
        RuleSample(
            "imports",
            bad: SourceFile("Sources/Novelty/A.swift", "\n"),
            good: SourceFile("Package.swift", "import PackageDescription\n")
        ),
    ]

    private static func lines(_ count: Int, _ text: String = "// line") -> String {
        String(repeating: text + "\n", count: count)
    }

    private static let sizeSamples = [
        RuleSample(
            "file-length",
            bad: SourceFile("Sources/Engine/A.swift", lines(501)),
            lines: [501],
            good: SourceFile("Sources/Engine/A.swift", lines(500))
        ),
        RuleSample(
            "file-length",
            bad: SourceFile("Tests/Engine/A.swift", lines(701)),
            lines: [701],
            good: SourceFile("Tests/Engine/A.swift", lines(700))
        ),
        RuleSample(
            "line-length",
            bad: SourceFile(
                "Sources/CLinux/a.c",
                "\n" + lines(1, String(repeating: "x", count: 101))
            ),
            lines: [2],
            good: SourceFile("Sources/Engine/A.swift", lines(1, String(repeating: "ü", count: 100)))
        ),
        RuleSample(
            "function-length",
            bad: "\nfunc a(\n) throws\n    -> Int {\n\(lines(67))}",
            lines: [2],
            good: "func a(\n) throws\n    -> Int {\n\(lines(66))}"
        ),
        RuleSample(
            "function-length",
            bad: "protocol P {\n    func a()\n}\ninit?() {\n\(lines(69))}",
            lines: [4],
            good: "protocol P {\n    func a()\n    var b: Int { get }\n}\nstruct S {\n\(lines(80))}"
        ),
        RuleSample(
            "function-length",
            bad: "var a: Int {\n\(lines(69))}",
            good: "let a: Int = b {\n\(lines(80))}\nvar c = d {\n\(lines(80))}"
        ),
        RuleSample(
            "function-length",
            bad: SourceFile("Sources/CLinux/a.c", "int a(void) {\n\(lines(69))}\n"),
            good: SourceFile("Sources/CLinux/a.c", "int a(void) {\n\(lines(68))}\n")
        ),
        RuleSample(
            "size",
            bad: SourceFile("docs/a.md", String(repeating: "a", count: 262_145)),
            good: SourceFile("docs/a.md", "a\n")
        ),
    ]

    private static let fileSamples = [
        RuleSample(
            "file-names",
            bad: SourceFile("Sources/Engine/StringUtils.swift", "\n"),
            good: SourceFile("Sources/Engine/Commonality.swift", "\n")
        ),
        RuleSample(
            "extensions",
            bad: SourceFile("Sources/Engine/data.bin", "\n"),
            good: SourceFile("docs/man/expunged.8", "\n")
        ),
        RuleSample(
            "extensions",
            bad: SourceFile("Sources/Engine/noext", "\n"),
            good: SourceFile("Benchmarks/run", "#!/bin/sh\n")
        ),
        RuleSample(
            "executable-bits",
            bad: SourceFile("docs/a.md", "text\n", isExecutable: true),
            good: SourceFile("Benchmarks/run", "#!/bin/sh\n", isExecutable: true)
        ),
        RuleSample(
            "executable-bits",
            bad: SourceFile("Benchmarks/run", "#!/bin/sh\n"),
            good: SourceFile("docs/a.md", "text\n")
        ),
        RuleSample("blanks", bad: "let a = 1\u{20}\nlet b = 2", good: "let a = 1\nlet b = 2"),
        RuleSample("blanks", bad: "\u{9}let a = 1", good: "    let a = 1"),
        RuleSample("blanks", bad: "let a = 1\r", good: "let a = 1"),
        RuleSample("blanks", bad: "let a = 1\n", lines: [2], good: "let a = 1"),
        RuleSample(
            "todo",
            bad: "// TODO: later\n// TODO(#x)",
            lines: [1, 2],
            good: "// TODO(#12): it"
        ),
    ]

    private static let docSamples = [
        RuleSample(
            "documentation",
            bad: """
                package struct A {
                    package let b: Int
                    package init(b: Int) { self.b = b }
                    package init(c: Int) throws(E) {}
                    package var d: Int { 1 }
                    package static func e() throws(E) {}
                }
                """,
            lines: [1, 4, 6],
            good: """
                package import Lifecycle
                /// Documented.
                @safe
                package struct A: CustomStringConvertible {
                    package let b: Int
                    package private(set) var c = 1
                    package init(b: Int) { self.b = b }
                    package var description: String { "" }
                    package static func == (left: A, right: A) -> Bool { true }
                    package func check() -> Bool { true }
                    func internalOnly() throws {}
                }
                """
        ),
        RuleSample(
            "throws-documented",
            bad: """
                /// Reads.
                ///
                /// - Parameter a: It.
                package func read(
                    a: Int
                ) throws(E) -> Int { 1 }
                """,
            lines: [4],
            good: """
                /// Reads.
                ///
                /// - Parameter a: It.
                package func read(a: () throws -> Int) -> Int { 1 }

                /// Reads.
                ///
                /// - Returns: It.
                /// - Throws: ``E`` when it cannot.
                package func read() throws(E) -> Int { 1 }

                /// Reads.
                package func short() throws(E) {}
                """
        ),
    ]

    private static let typeSamples = [
        RuleSample(
            "wire-types",
            bad: SourceFile("Sources/Daemon/Start/A.swift", "let a: WireA?\nlet b = [WireB]()\n"),
            lines: [1, 2],
            good: SourceFile("Sources/Daemon/Control/A.swift", "let a: WireA?\n")
        ),
        RuleSample(
            "column-list",
            bad: SourceFile(
                "Sources/Storage/A.swift",
                "\"INSERT INTO a VALUES (?)\"\n\"INSERT INTO a SELECT 1\"\n"
            ),
            lines: [1, 2],
            good: SourceFile(
                "Sources/Storage/A.swift",
                "\"INSERT INTO \\(a) (\\(b)) VALUES (?)\"\n// INSERT INTO a\n  (b, c)\n"
            )
        ),
        RuleSample("wire-types", bad: "let a: WireA", good: "let aWire: Wired // WireA\nWire.a()"),
    ]

    private static let textSamples = [
        RuleSample(
            "retry-delay",
            bad: """
                static let retryInterval = Duration.seconds(1)
                private static let pauseMilliseconds: Int32 = 5
                package static var busyPause: Duration { .seconds(2) }
                """,
            lines: [1, 2, 3],
            good: """
                static let pauseMax = RetryPolicy.subscriber.delay(failures: .max)
                static let pollInterval = Duration.seconds(1)
                let retryFor: Duration
                static let retryText = ""
                """
        ),
        RuleSample(
            "retry-delay",
            bad: SourceFile("Sources/Engine/Limit.swift", "static let pause = Duration.zero\n"),
            good: SourceFile(
                "Sources/Engine/QueueLimits.swift",
                "static let pause = Duration.zero\n"
            )
        ),
        RuleSample("detached-task", bad: "Task.detached {}", good: "// Task.detached"),
        RuleSample(
            "unowned-task",
            bad: "Task { await a() }\nlet b = Task(name: \"b\") {}",
            lines: [1, 2],
            good: "group.addTask { await a() }\nlet a: Task<Void, Never>?"
        ),
        RuleSample("force-try", bad: "let a = try! b()", good: "let a = try b()"),
        RuleSample("optional-try", bad: "let a = try? b()", good: "let a = \"try? b()\""),
        RuleSample(
            "empty-catch",
            bad: "do { try a() } catch {}",
            good: "do { try a() } catch { log.debug(\"…\") }"
        ),
        RuleSample(
            "unchecked-sendable",
            bad: "final class A: @unchecked Sendable {}",
            good: "final class A: Sendable {}"
        ),
        RuleSample(
            "unnamed-log-entry",
            bad: SourceFile("Sources/Daemon/A.swift", "parts.logger.error(\"no\")\n"),
            good: SourceFile("Sources/Daemon/A.swift", "logger.note(.caution, facts)\n")
        ),
        RuleSample("nonisolated-unsafe", bad: "nonisolated(unsafe) var a = 1", good: "let a = 1"),
        RuleSample(
            "one-json",
            bad: "let a = JSONEncoder()\n_ = JSONDecoder()",
            lines: [1, 2],
            good: "let a = try TypedJSON.bytes(b)"
        ),
        RuleSample(
            "json-text",
            bad: "let a = #\"{\"a\":1}\"#\nlet b = \"{\\\"a\\\":1}\"",
            lines: [1, 2],
            good: "let a = JSONWriter.object { $0.member(\"{a}\", 1) }"
        ),
        RuleSample(
            "one-base64",
            bad: "_ = Data(base64Encoded: a)\n_ = data.base64EncodedString()",
            lines: [1, 2],
            good: "_ = Base64.decode(a)"
        ),
        RuleSample(
            "wall-clock",
            bad: "let a = Date.now\n_ = Date()",
            lines: [1, 2],
            good: "let a: Date\nlet b = UpDate()"
        ),
        RuleSample(
            "real-sleep",
            bad: "try await Task.sleep(for: a)\nusleep(1)\nsleep(1)",
            lines: [1, 2, 3],
            good: "try await clock.sleep(for: a)\nfunc sleep() {}"
        ),
        RuleSample(
            "dispatch-timer",
            bad: SourceFile("Sources/Engine/AClock.swift", "try await Task.sleep(for: a)\n"),
            good: SourceFile("Sources/Engine/AClock.swift", "try await BootClock.sleep(for: a)\n")
        ),
        RuleSample(
            "print",
            bad: SourceFile("Sources/Engine/A.swift", "print(\"a\")\n"),
            good: SourceFile("Sources/expungectl/A.swift", "print(\"a\")\n")
        ),
        RuleSample(
            "dispatch",
            bad: "DispatchQueue.main.async {}",
            good: "/// No DispatchQueue here."
        ),
        RuleSample("public", bad: "public struct A {}", good: "let isPublic = a.public == 1"),
        RuleSample(
            "whole-foundation",
            bad: "import Foundation",
            good: "import FoundationEssentials"
        ),
        RuleSample(
            "fix-me",
            bad: SourceFile("docs/a.md", "\nFIXME this\n"),
            lines: [2],
            good: SourceFile("docs/a.md", "fix me\n")
        ),
        RuleSample(
            "real-sleep",
            bad: SourceFile("Tests/Engine/ClockTests.swift", "Thread.sleep(forTimeInterval: 1)\n"),
            good: SourceFile("Sources/Engine/RealClock.swift", "Task.sleep(for: a)\n")
        ),
        RuleSample(
            "build-product",
            bad: SourceFile("Sources/Daemon/A.swift", "let a = \".build/debug/expunged\"\n"),
            good: SourceFile("Makefile", "cp .build/release/expunged $@\n")
        ),
        RuleSample(
            "sqlite-only",
            bad: SourceFile("Sources/Storage/A.swift", "\"SELECT ifnull(max(id), 0) FROM a\"\n"),
            good: SourceFile("Sources/Storage/A.swift", "\"SELECT coalesce(max(id), 0) FROM a\"\n")
        ),
        RuleSample(
            "place",
            bad: SourceFile("docs/a.md", "look in /root/expunged\n"),
            good: SourceFile("docs/a.md", "look in /var/lib/expunged\n")
        ),
    ]
}
