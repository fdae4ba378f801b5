extension RuleTests {
    private static func words(_ count: Int, _ text: String = "word") -> String {
        Array(repeating: text, count: count).joined(separator: " ")
    }

    static let proseSamples = [
        RuleSample(
            "prose-width",
            bad: SourceFile("docs/a.md", "# A\n\n\(words(21))\n"),
            lines: [3],
            good: SourceFile(
                "docs/a.md",
                "\(words(20))\n| \(words(30)) |\n```\n\(words(30))\n```\n"
            )
        ),
        RuleSample(
            "sentence-length",
            bad: SourceFile("docs/guides/a.md", "Word.\n\n- \(words(20))\n  \(words(16)).\n"),
            lines: [3],
            good: SourceFile(
                "docs/guides/a.md",
                "\(words(35)). \(words(30)) (`\(words(9))`). Next\n\n"
                    + "| \(words(30)) | \(words(30)) |\n"
            )
        ),
        RuleSample(
            "sentence-length",
            bad: SourceFile("docs/guides/a.md", "| a | \(words(36)) |\n"),
            good: SourceFile("docs/man/a.1", "\(words(36)).\n")
        ),
        RuleSample(
            "guide-length",
            bad: SourceFile("docs/guides/a.md", words(901) + "\n"),
            good: SourceFile("docs/guides/a.md", words(900) + "\n")
        ),
        RuleSample(
            "plain-words",
            bad: SourceFile("docs/a.md", "Fine.\n\nNobody\nlooks again.\n\n| a | Trouble. |\n"),
            lines: [3, 3, 6],
            good: SourceFile("docs/a.md", "It looks fine; again `told`.\n\n```\ndesk\n```\n")
        ),
        RuleSample(
            "plain-words",
            bad: SourceFile("docs/man/a.1", ".It told\nThe \\fBdesk\\fR tells.\n"),
            lines: [2],
            good: SourceFile("docs/man/a.1", ".Nm told\nA \\fItold\\fR\\-word.\n")
        ),
        RuleSample(
            "plain-words",
            bad: SourceFile("systemd/a.catalog", "-- told\nSubject: News\n"),
            lines: [2],
            good: SourceFile("Sources/Engine/A.swift", "// told\n")
        ),
        RuleSample(
            "plain-strings",
            bad: #"""
                fail("nobody is told")
                let a = """
                    (desk) \(told("a"))
                    """
                let b = "\(told(2)) looks again"
                """#,
            lines: [1, 1, 3, 5],
            good: #"""
                // told
                let told = "a \(told("b")) told_at" + c("look", "again")
                """#
        ),
        RuleSample(
            "coined-names",
            bad: SourceFile("Tests/A/a.py", "dice = 1  # tells\n\ndef was_told(): pass\n"),
            lines: [1, 1, 3],
            good: SourceFile("Tests/A/A.swift", "// told\nlet random = momentum\n")
        ),
        RuleSample(
            "coined-names",
            bad: "let a = IntakeDesk()\n// two fences\nlet nudgeCount = 1",
            lines: [1, 2, 3],
            good: "// Troubleshooting, complementary\nlet deskew = Shelfmark.mintage"
        ),
    ]
}
