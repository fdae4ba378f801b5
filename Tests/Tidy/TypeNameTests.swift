import Testing

@Suite("Names of types")
struct TypeNameTests {
    private static let command = "a command of expungectl, which imports none of the service"
    /// Names that two modules use, and why.
    private static let allowed = [
        "AppleClientSecret": "the stand-in shares nothing with what it judges: both make secrets",
        "ClientAuthentication":
            "the stand-in shares nothing with what it judges: both know RFC 8414",
        "Metrics": command, "Receipt": command, "Retry": command,
    ]

    @Test("belong to one module each, but for those that are listed with a reason")
    func names() throws {
        let names = TypeNames(try SourceTree.shared.get().files)
        for (name, modules) in names.shared where Self.allowed[name] == nil {
            Issue.record("'\(name)' is a type of \(modules.sorted()): rename one, or list why")
        }
        #expect(Set(names.shared.keys).isSuperset(of: Self.allowed.keys), "remove what is no more")
    }

    @Test("are those of types outside of others that other files see")
    func samples() {
        let names = TypeNames([
            SourceFile(
                "Sources/A/A.swift",
                """
                import struct B.One
                package struct Two: Sendable {
                    struct Three {}
                }
                private enum Four {}
                // struct Five
                final class Six {}
                """
            ),
            SourceFile("Sources/A/Two.swift", "struct Two {}\nactor Seven {}\n"),
            SourceFile(
                "Sources/B/B.swift",
                """
                struct One {}
                indirect enum Two {}
                struct Three {}
                enum Four {}
                struct Five {}
                @safe struct Six {}
                """
            ),
            SourceFile("Tests/B/B.swift", "struct Seven {}\n"),
        ])
        #expect(names.shared == ["Two": ["A", "B"], "Six": ["A", "B"]])
    }
}
