import FoundationEssentials
import Lifecycle
import Systemd
import Testing

@Suite("Journal catalog")
struct JournalCatalogTests {
    private let blocks: [Block]

    init() throws {
        blocks = try Block.read("systemd/expunged.catalog")
    }

    @Test("every event has one catalog entry and every entry one event")
    func sameIDs() {
        #expect(blocks.map(\.id).sorted() == JournalEvent.allCases.map(\.messageID).sorted())
    }

    @Test("ids are unique and 32 hexadecimal digits of a random UUID")
    func idForm() {
        #expect(Set(JournalEvent.allCases.map(\.messageID)).count == JournalEvent.allCases.count)
        for event in JournalEvent.allCases {
            let digits = Array(event.messageID)
            #expect(digits.count == 32, "\(event)")
            #expect(digits.allSatisfy { "0123456789abcdef".contains($0) }, "\(event)")
            #expect(digits[12] == "4" && "89ab".contains(digits[16]), "\(event)")
        }
    }

    @Test("prints values, of fields that every entry of the event has")
    func values() throws {
        var count = 0
        for event in JournalEvent.allCases {
            let block = try #require(blocks.first { $0.id == event.messageID })
            #expect(block.headers.contains("Defined-By: expunged"))
            let required = event.template.replacing(/\[.*?\]/, with: "")
            let text = (block.headers + block.body).joined(separator: "\n")
            for match in text.matches(of: /@?EXPUNGED_([A-Z_]+)@?/) where match.1 != "EVENT" {
                let field = try #require(
                    JournalField.allCases.first { $0.journalName == "EXPUNGED_\(match.1)" }
                )
                #expect(match.0.hasPrefix("@") && match.0.hasSuffix("@"), "\(event): \(match.0)")
                #expect(required.contains("{\(field.rawValue)"), "\(event) lacks \(match.0)")
                count += 1
            }
        }
        #expect(count > 80)
    }

    @Test("an entry says what happened and what to do", arguments: JournalEvent.allCases)
    func body(_ event: JournalEvent) throws {
        let block = try #require(blocks.first { $0.id == event.messageID })
        let advice = try #require(block.body.firstIndex { $0.hasPrefix("What to do: ") })
        #expect(block.body[..<advice].joined().count > 20)
    }

    @Test("an event that is loud has advice other than nothing", arguments: JournalEvent.allCases)
    func advice(_ event: JournalEvent) throws {
        let block = try #require(blocks.first { $0.id == event.messageID })
        switch event.severity {
        case .error, .critical: #expect(!block.body.contains("What to do: Nothing."))
        case .info, .notice, .warning: break
        }
    }

    @Test("what an operator did is no alarm, unless it lifts a protection")
    func acts() {
        let acts = JournalEvent.allCases.filter {
            $0.template.contains("by uid {operator.uid}") || $0.template.contains("by an operator")
        }
        #expect(acts == [.rollbackAccepted, .requestAbandoned, .guardOverridden])
        for event in [.requestAbandoned, .operatorAction, .intakePaused] as [JournalEvent] {
            #expect(event.severity == .notice)
        }
        // A thief of the operator's role would lift them without a word.
        #expect(JournalEvent.rollbackAccepted.severity == .warning)
        #expect(JournalEvent.guardOverridden.severity == .warning)
    }

    @Test("no line is longer than 76 columns")
    func width() {
        for line in blocks.flatMap({ $0.headers + $0.body }) {
            #expect(line.count <= 76, "\(line)")
        }
    }
}

/// One entry of the catalog file.
private struct Block {
    var id: String
    var headers: [String] = []
    var body: [String] = []

    static func read(_ path: String) throws -> [Block] {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: path), encoding: .utf8)
        var blocks: [Block] = []
        var isHeader = true
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            if line.hasPrefix("-- ") {
                blocks.append(Block(id: String(line.dropFirst(3))))
                isHeader = true
            } else if let last = blocks.indices.last {
                if line.isEmpty && isHeader {
                    isHeader = false
                } else if isHeader {
                    blocks[last].headers.append(line)
                } else {
                    blocks[last].body.append(line)
                }
            }
        }
        return blocks
    }
}
