import FoundationEssentials
import Lifecycle
import Testing

struct PhaseTableTests {
    @Test("a deletion does in every phase what the table says", arguments: PhaseRow.allCases)
    func deletion(in row: PhaseRow) throws {
        let expected = try PhaseTable.cells(of: PhaseTable.deletion)[row.name] ?? [:]
        let machine = try row.machine(.deleteAccount)
        #expect(row.matches(machine.request.phase))
        for column in EventColumn.allCases {
            let outcome = Outcome(of: column.event, on: machine)
            #expect(outcome.text == expected[column], "\(row.name) × \(column)")
            #expect(outcome.refusal == nil || outcome.isUntouched, "\(row.name) × \(column)")
        }
    }

    @Test(
        "a revocation does the same, except where the table says otherwise",
        arguments: PhaseRow.allCases.filter(\.isWithoutPurge)
    )
    func revocation(in row: PhaseRow) throws {
        let usual = try PhaseTable.cells(of: PhaseTable.deletion)[row.name] ?? [:]
        let differing =
            try PhaseTable.cells(of: PhaseTable.revocationDifferences)[row.name] ?? [:]
        let machine = try row.machine(.revokeTokens)
        #expect(row.matches(machine.request.phase))
        for column in EventColumn.allCases {
            let outcome = Outcome(of: column.event, on: machine)
            let expected = differing[column] ?? usual[column]
            #expect(outcome.text == expected, "\(row.name) × \(column)")
            #expect(differing[column] != usual[column], "\(row.name) × \(column)")
        }
    }

    @Test func `no cell of the tables is missing and none is invented`() throws {
        let cells = try PhaseTable.cells(of: PhaseTable.deletion)
        #expect(Set(cells.keys) == Set(PhaseRow.allCases.map(\.name)))
        for (row, outcomes) in cells {
            #expect(Set(outcomes.keys) == Set(EventColumn.allCases), "\(row)")
        }
        let differing = try PhaseTable.cells(of: PhaseTable.revocationDifferences)
        let shared = PhaseRow.allCases.filter(\.isWithoutPurge).map(\.name)
        #expect(Set(differing.keys).isSubset(of: shared))
        for column in EventColumn.allCases { #expect(EventColumn(column.event) == column) }
    }

    @Test func `the documentation shows the matrix`() throws {
        let matrix = try PhaseTable.matrix(.deleteAccount)
        print(matrix)
        let page = try documentation("Lifecycle")
        #expect(page.contains("```\n\(matrix)\n```"), "put the printed matrix into Lifecycle.md")
    }

    @Test("what parked it goes away, and it goes on", arguments: reliefs)
    func relief(_ row: PhaseRow, _ expected: String) throws {
        var machine = try row.machine(.deleteAccount)
        machine.environment = Sample.environment()
        #expect(Outcome(of: .due, on: machine).text == expected)
        #expect(machine.request.dueAt == nil || row.waitsForTime)
    }

    static let reliefs: [(PhaseRow, String)] = [
        (.parked(.accepted, .vaultSealed), "revoking +check +resumed"),
        (.parked(.scheduled, .vaultSealed), "scheduled +resumed"),
        (.parked(.revoking, .vaultSealed), "revoking +revoke +resumed"),
        (.parked(.purging, .vaultSealed), "verifying +verify +resumed"),
        (.parked(.verifying, .vaultSealed), "completed +done"),
        (.parked(.accepted, .awaitingSpool), "revoking +check +resumed"),
        (.parked(.accepted, .awaitingCredentials), "revoking +check +resumed"),
        (.parked(.revoking, .awaitingCredentials), "revoking +revoke +resumed"),
        (.parked(.revoking, .clockBehind), "revoking +revoke +resumed"),
        (.parked(.purging, .clockBehind), "verifying +verify +resumed"),
        (.parked(.revoking, .providerPaused), "revoking +check +resumed"),
        (.parked(.revoking, .unknownProvider), "revoking +check +resumed"),
        (.parked(.purging, .storePaused), "purging +purge +resumed"),
        (.parked(.verifying, .storePaused), "verifying +verify +resumed"),
        (.parked(.verifying, .withoutKeys), "verifying +verify +resumed"),
        (.parked(.revoking, .awaitingApproval), "revoking +check +resumed"),
        (.parked(.purging, .awaitingApproval), "purging +purgeStarted +purge +resumed"),
        (.parked(.purging, .massDeletionGuard), "purging +purgeStarted +purge +resumed"),
        (.parked(.revoking, .needsReauthentication), "stays"),
        (.parked(.revoking, .sharedIdentity), "stays"),
        (.parked(.purging, .onHold), "stays"),
        (.parked(.purging, .quarantined), "stays"),
    ]
}

extension PhaseRow {
    /// Parked with `park_until`.
    fileprivate var waitsForTime: Bool { self == .parked(.revoking, .needsReauthentication) }
}

/// The documentation page of a module, from the source tree that this file is in.
private func documentation(_ module: String) throws -> String {
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    let path = "/\(root)/Sources/\(module)/\(module).docc/\(module).md"
    let bytes = try Data(contentsOf: URL(filePath: path))
    return String(decoding: bytes, as: UTF8.self)
}
