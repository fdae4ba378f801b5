import Testing

@Suite("The source tree")
struct TreeTests {
    private let tree: SourceTree
    private let allowances: Allowances

    init() throws {
        tree = try SourceTree.shared.get()
        let list = try tree.file("Tests/Tidy/allowed.txt")
        allowances = Allowances(String(decoding: list.bytes, as: UTF8.self))
    }

    @Test("obeys the rule, allowances apart", arguments: Rule.all)
    func obeys(rule: Rule) {
        let findings = tree.files.flatMap(rule.check).filter { !allowances.allows($0) }
        for finding in findings { Issue.record("\(finding)") }
    }

    @Test("has short functions: half of them at most 10 lines, 99 of 100 at most 50")
    func functionLengths() {
        let sources = tree.files.filter { $0.isSwift && !$0.isTest }
        let counts = sources.flatMap { Declaration.bodies(in: $0).map(\.count) }.sorted()
        #expect(counts.count > 1000)
        #expect(counts[counts.count / 2] <= 10)
        #expect(counts[counts.count * 99 / 100] <= 50)
    }

    @Test("is really read: every module and suite of the import table has files")
    func isRead() {
        #expect(tree.files.count > 50)
        let targets = Set(tree.files.filter { !$0.isTest }.compactMap(\.target))
        #expect(targets.isSuperset(of: ImportTable.sources.keys))
    }

    @Test("needs every allowance that is listed, each with a reason")
    func allowancesAreNeeded() {
        #expect(allowances.malformed.isEmpty, "expected RULE PATH REASON")
        let findings = Set(
            Rule.all.flatMap { rule in tree.files.flatMap(rule.check) }
                .map { "\($0.rule) \($0.path)" }
        )
        for entry in allowances.entries {
            #expect(
                findings.contains("\(entry.rule) \(entry.path)"),
                "remove the allowance, nothing there breaks the rule"
            )
        }
    }

    @Test("has a catalog entry for every journal event and no other")
    func catalog() throws {
        let events = try tree.file("Sources/Lifecycle/JournalEvent.swift")
        let catalog = try tree.file("systemd/expunged.catalog")
        let both = Catalog(
            eventSource: String(decoding: events.bytes, as: UTF8.self),
            catalog: String(decoding: catalog.bytes, as: UTF8.self)
        )
        #expect(both.events.count >= 20)
        #expect(both.problems.isEmpty)
    }

    @Test("imports in each module all that the import table allows it")
    func allowedImportsAreNeeded() {
        // It is linked, and never called.
        let linked: Set = ["CAllocator"]
        for (target, allowed) in ImportTable.sources {
            let files = tree.files.filter { $0.isSwift && !$0.isTest && $0.target == target }
            let unused = allowed.subtracting(linked).filter { module in
                files.allSatisfy { $0.offsets(of: "import \(module)\n").isEmpty }
            }
            #expect(unused.isEmpty, "\(target)")
        }
    }

    @Test("declares in Package.swift no edge between our modules that the import table forbids")
    func packageEdges() throws {
        let package = try tree.file("Package.swift")
        let text = String(decoding: package.bytes, as: UTF8.self)
        for (target, allowed) in ImportTable.sources {
            guard
                let start = text.firstRange(of: "library(\"\(target)\", [")
                    ?? text.firstRange(of: "program(\"\(target)\", [")
                    ?? text.firstRange(of: "\n        \"\(target)\",\n")
            else {
                Issue.record("Package.swift has no row for \(target)")
                continue
            }
            let row = text[start.upperBound...].prefix { $0 != "]" }
            let names = row.split(separator: "\"", omittingEmptySubsequences: false)
                .enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
            #expect(Set(names).isSubset(of: allowed), "\(target)")
        }
    }
}
