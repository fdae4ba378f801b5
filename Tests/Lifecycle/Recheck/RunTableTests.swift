import FoundationEssentials
import Lifecycle
import Testing

/// Every phase of a run and every event.
struct RunTableTests {
    /// A way to be in a phase, reached by events alone.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let kind: RecheckRun.Kind
        let events: [String]

        var testDescription: String { name }

        func machine() throws -> RunMachine {
            var machine = RunMachine(kind)
            for event in events { machine.send(try RunTableTests.event(event)) }
            return machine
        }
    }

    private static var terms: ReplayTerms { ReplayTerms(since: Sample.start) }
    private static var drill: ReplayTerms {
        var drill = terms
        (drill.isDrill, drill.store) = (true, Sample.database)
        return drill
    }
    private static var copied: ReplayTerms {
        var copied = drill
        copied.copy = "/copy"
        return copied
    }

    /// The usual way of a replay, phase by phase.
    private static let way: [(name: String, event: String)] = [
        ("checkingLedger", "begin"), ("learning", "readAlarm"), ("findingOpen", "learned"),
        ("restoring", "foundOpen"), ("loading", "restored"), ("findingLate", "loaded"),
        ("listing", "foundNone"), ("findingBegun", "listed"), ("checkingHolds", "foundNoBegun"),
        ("noting", "readHolds"), ("purging", "noted"), ("verifying", "purged"),
        ("recording", "verified"),
    ]

    static let rows: [Row] =
        [Row(name: "idle", kind: .replay(terms), events: [])]
        + way.indices.map { index in
            Row(
                name: way[index].name,
                kind: .replay(terms),
                events: way[...index].map(\.event)
            )
        } + others

    private static let others: [Row] = [
        Row(
            name: "endingBegun",
            kind: .replay(terms),
            events: way[...7].map(\.event) + ["foundBegun"]
        ),
        Row(
            name: "waiting",
            kind: .replay(terms),
            events: way[...6].map(\.event) + ["notListed"]
        ),
        Row(
            name: "forgetting",
            kind: .replay(terms),
            events: way.map(\.event)
                + ["recorded", "readHolds", "noted", "purged", "verified", "recorded"]
        ),
        Row(name: "openingCopy", kind: .replay(copied), events: ["begin", "learned"]),
        Row(
            name: "checkingCopy",
            kind: .replay(copied),
            events: ["begin", "learned", "openedCopy"]
        ),
        Row(
            name: "verifying, drill",
            kind: .replay(drill),
            events: ["begin", "learned", "loaded", "listed"]
        ),
        Row(name: "rechecking", kind: .rechecks, events: ["begin", "loadedDue"]),
        Row(name: "closing", kind: .rechecks, events: ["begin", "loadedDue", "verified"]),
        Row(
            name: "reopening",
            kind: .sample(after: 0),
            events: ["begin", "loaded", "listed", "remaining", "notListed", "due", "unlisted"]
        ),
        Row(
            name: "reopening, one store",
            kind: .sample(after: 0),
            events: [
                "begin", "loaded", "listed", "remaining", "notListed", "due", "unlisted",
                "reopened",
            ]
        ),
        Row(name: "ended", kind: .rechecks, events: ["begin", "notDue"]),
    ]

    /// The columns of the table.
    static let columns = [
        "begin", "readAlarm", "learned", "foundOpen", "restored", "openedCopy", "checkedCopy",
        "loaded", "loadedDue", "vaultSealed", "foundLate", "listed", "foundBegun", "readHolds",
        "noted", "purged", "verified", "recorded", "closed", "reopened", "due", "failed",
    ]

    static func event(_ name: String) throws -> RecheckEvent {
        let user = try #require(RunMachine.user)
        let begun = BegunErasure(request: RunMachine.request, hash: [2])
        return switch name {
        case "begin": .begin
        case "readAlarm": .readAlarm(nil)
        case "learned": .learned(isReadable: true)
        case "foundOpen": .foundOpen([RunMachine.request: true])
        case "restored": .restored
        case "openedCopy": .openedCopy(nil)
        case "checkedCopy": .checkedCopy(problem: nil)
        case "loaded": .loaded([RunMachine.tombstone, other], next: 1)
        case "loadedDue": .loadedDue(try RunMachine.page([RunMachine.due()]))
        case "notDue": .loadedDue(DuePage())
        case "vaultSealed": .vaultSealed
        case "foundLate": .foundLate([RunMachine.request])
        case "foundNone": .foundLate([])
        case "listed": .listed(.found([(user, RunMachine.hash)]))
        case "notListed": .listed(.failure(.unreachable))
        case "unlisted": .listed(.unknown("cannot"))
        case "foundBegun": .foundBegun([begun])
        case "foundNoBegun": .foundBegun([])
        case "readHolds": .readHolds([], UsersOnHold())
        case "noted": .noted([])
        case "purged": .purged([.done(RunMachine.counts(1))])
        case "verified": .verified([.clean])
        case "remaining": .verified([.remaining(1)])
        case "recorded": .recorded
        case "closed": .closed([])
        case "reopened": .reopened([(RunMachine.request, [])])
        case "due": .due
        default: .failed("state_unavailable")
        }
    }

    /// Of whom the store has nothing any more.
    private static var other: Tombstone {
        Tombstone(hash: [2], erasedAt: Sample.start, request: RunMachine.request)
    }

    /// The events that change something, and the phase afterwards.
    static func transitions(of row: Row) throws -> [(event: String, phase: String)] {
        try columns.filter { $0 != "failed" }.compactMap { column in
            var machine = try row.machine()
            let before = machine.run.phase
            let effects = machine.send(try event(column))
            guard !effects.isEmpty || machine.run.phase != before else { return nil }
            return (column, machine.phase)
        }
    }

    static func matrix() throws -> String {
        func line(_ cells: String...) -> String {
            cells.dropLast().map { $0 + String(repeating: " ", count: 22 - $0.utf8.count) }.joined()
                + (cells.last ?? "")
        }
        var lines = [line("phase", "event", "next")]
        for row in rows {
            lines += try transitions(of: row).map { line(row.name, $0.event, $0.phase) }
        }
        return lines.joined(separator: "\n")
    }

    @Test("each row is in the phase that it names", arguments: rows)
    func phase(_ row: Row) throws {
        let phase = try row.machine().phase
        #expect(phase == row.name.split(separator: ",").first.map(String.init))
    }

    @Test("an event that does not fit changes nothing", arguments: rows)
    func unfit(_ row: Row) throws {
        let fitting = try Self.transitions(of: row).map(\.event)
        for column in Self.columns where !fitting.contains(column) && column != "failed" {
            var machine = try row.machine()
            let (phase, report) = (machine.run.phase, machine.run.report)
            let effects = machine.send(try Self.event(column))
            #expect(effects.isEmpty, "\(row.name) × \(column)")
            #expect(machine.run.phase == phase)
            #expect(machine.run.report == report)
        }
    }

    @Test("a state that is not available ends every run", arguments: rows)
    func failed(_ row: Row) throws {
        var machine = try row.machine()
        machine.send(.failed("state_unavailable"))
        #expect(machine.run.phase.isEnded || row.name == "idle")
    }

    @Test func `the documentation shows the table, and the table has every phase`() throws {
        let matrix = try Self.matrix()
        print(matrix)
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let path = "/\(root)/Sources/Lifecycle/Lifecycle.docc/Lifecycle.md"
        let page = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        #expect(page.contains("```\n\(matrix)\n```"), "put the printed table into Lifecycle.md")
        #expect(Set(Self.rows.compactMap { $0.name.split(separator: ",").first }).count == 23)
    }
}
