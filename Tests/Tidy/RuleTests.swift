import Testing

/// A file that breaks one rule, and one that comes close without breaking it.
struct RuleSample: Sendable, CustomTestStringConvertible {
    let rule: String
    let bad: SourceFile
    let good: SourceFile
    /// On which lines the bad one is reported.
    let lines: [Int]

    var testDescription: String { "\(rule): \(bad.path)" }

    init(_ rule: String, bad: SourceFile, lines: [Int] = [1], good: SourceFile) {
        self.rule = rule
        self.bad = bad
        self.lines = lines
        self.good = good
    }

    /// For rules that look at Swift text of any module.
    init(_ rule: String, bad: String, lines: [Int] = [1], good: String) {
        self.init(
            rule,
            bad: SourceFile("Sources/Engine/Sample.swift", bad + "\n"),
            lines: lines,
            good: SourceFile("Sources/Engine/Sample.swift", good + "\n")
        )
    }
}

@Suite("The rules themselves")
struct RuleTests {
    @Test("each catches its bad sample and leaves the good one alone", arguments: samples)
    func catches(sample: RuleSample) throws {
        let rule = try #require(Rule.all.first { $0.name == sample.rule })
        #expect(rule.check(sample.bad).map(\.line).sorted() == sample.lines)
        #expect(rule.check(sample.good).isEmpty)
    }

    @Test("each has a sample and a name of its own")
    func complete() {
        let names = Rule.all.map(\.name)
        #expect(Set(names).count == names.count)
        #expect(Set(Self.samples.map(\.rule)) == Set(names))
    }

    @Test("an allowance needs a rule, a path and a reason")
    func allowances() {
        let list = Allowances("# comment\n\nprint A.swift shows the usage text\nprint B.swift\n")
        #expect(list.malformed == [4])
        #expect(list.allows(Finding(rule: "print", path: "A.swift", line: 9, advice: "")))
        #expect(!list.allows(Finding(rule: "print", path: "B.swift", line: 9, advice: "")))
        #expect(!list.allows(Finding(rule: "todo", path: "A.swift", line: 9, advice: "")))
    }

    @Test("the catalog check names missing, foreign, doubled and unnamed entries and wide lines")
    func catalog() {
        let one = String(repeating: "1", count: 32)
        let two = String(repeating: "2", count: 32)
        let three = String(repeating: "3", count: 32)
        let bad = Catalog(
            eventSource: "case .started: \"\(one)\"\ncase .stopping: \"\(two)\"\n",
            catalog: """
                -- \(one)
                Subject: Started
                \(String(repeating: "w", count: 77))
                -- \(three)
                -- \(one)
                Subject: Again
                """
        )
        #expect(
            bad.problems == [
                "catalog line 3 is wider than 76 columns",
                "stopping has no catalog entry \(two)",
                "catalog entry \(three) belongs to no event",
                "catalog entry \(three) has no subject",
                "the catalog use an id twice",
            ]
        )
        let good = Catalog(
            eventSource: "case .started: \"\(one)\"",
            catalog: "-- \(one)\nSubject: Started\n"
        )
        #expect(good.problems.isEmpty)
    }

    @Test(
        "comments and strings are no code, also with quotes, hashes and interpolations inside",
        arguments: [
            "let a = \"try! \\(b(\"try!\") + \"x\") try!\"; let c = 1",
            "let a = #\"try! \" \\(x) try!\"#; let c = 1",
            "let a = \"\"\"\n try! \" \"\" try!\n \"\"\"; let c = 1",
            "let a = #\"\"\"\"#; let b = \"\"; let c = 1",
            "/* try! /* try! */ try! */ let c = 1",
            "// try!\nlet c = 1", "let a = \"\\\\\"; let b = \"try!\"; let c = 1",
        ]
    )
    func blanker(text: String) {
        let file = SourceFile("Sources/Engine/Sample.swift", text)
        #expect(file.offsets(of: "try!").isEmpty)
        #expect(file.offsets(of: "let c = 1").count == 1)
        #expect(file.code.count == file.bytes.count)
    }
}
