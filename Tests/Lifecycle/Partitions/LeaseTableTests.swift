import FoundationEssentials
import Lifecycle
import Testing

/// Every state of a host's leases and every event.
struct LeaseTableTests {
    /// A way to be in a state, reached by events alone.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let make: @Sendable () -> LeaseMachine

        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "idle") { .owning() },
        Row(name: "renewing") { renewing() },
        Row(name: "acquiring") { acquiring() },
        Row(name: "idle, leaving") { leaving() },
        Row(name: "releasing") { releasing() },
        Row(name: "idle, stopping") { stopping(.owning()) },
        Row(name: "renewing, stopping") { stopping(renewing()) },
        Row(name: "acquiring, stopping") { stopping(acquiring()) },
        Row(name: "stopped") {
            var machine = LeaseMachine()
            machine.send(.stop)
            return machine
        },
    ]

    private static func renewing() -> LeaseMachine {
        var machine = LeaseMachine.owning()
        machine.send(.due, after: .seconds(2))
        return machine
    }

    private static func acquiring() -> LeaseMachine {
        var machine = renewing()
        machine.send(.renewed(LeaseMachine.view(LeaseMachine.claims(0..<4), free: .all)))
        return machine
    }

    private static func leaving() -> LeaseMachine {
        var machine = renewing()
        machine.send(.renewed(LeaseMachine.view(LeaseMachine.claims(0..<4), hosts: 32)))
        return machine
    }

    private static func releasing() -> LeaseMachine {
        var machine = leaving()
        machine.send(.left(LeaseMachine.claims(2...3)))
        return machine
    }

    private static func stopping(_ machine: LeaseMachine) -> LeaseMachine {
        var machine = machine
        machine.send(.stop)
        return machine
    }

    /// The columns; in each some time has passed, but no lease has ended, except in `late`.
    static let columns: [(name: String, event: LeaseEvent, wait: Duration)] = [
        ("due", .due, .seconds(2)),
        ("late", .due, .seconds(5)),
        ("renewed", .renewed(LeaseMachine.view(LeaseMachine.claims(0..<4))), .zero),
        (
            "renewed, free",
            .renewed(LeaseMachine.view(LeaseMachine.claims(0..<4), free: .all)), .zero
        ),
        (
            "renewed, too many",
            .renewed(LeaseMachine.view(LeaseMachine.claims(0..<4), hosts: 32)), .zero
        ),
        ("renewed, one less", .renewed(LeaseMachine.view(LeaseMachine.claims(0..<3))), .zero),
        ("acquired", .acquired(LeaseMachine.claims(4..<6)), .zero),
        ("acquired none", .acquired([]), .zero),
        ("released", .released, .zero),
        ("failed", .failed, .zero),
        ("left", .left(LeaseMachine.claims(0..<4)), .zero),
        ("refused", .refused(LeaseMachine.claims(0..<1)), .zero),
        ("signaled", .signaled, .zero),
        ("stop", .stop, .zero),
    ]

    static func matrix() -> String {
        func line(_ cells: String...) -> String {
            let widths = [22, 20, 12]
            let padded = zip(cells, widths).map { cell, width in
                cell + String(repeating: " ", count: width - cell.utf8.count)
            }
            return (padded.joined() + (cells.last ?? "")).trimmed
        }
        var lines = [line("state", "event", "next", "effects")]
        for row in rows {
            for column in columns {
                var machine = row.make()
                let before = machine.leases.phase
                let effects = machine.send(column.event, after: column.wait)
                guard !effects.isEmpty || machine.leases.phase != before else { continue }
                lines.append(line(row.name, column.name, machine.phase, effects.names))
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test("each row is in the state that it names", arguments: rows)
    func phase(_ row: Row) {
        let parts = row.name.split(separator: ",").map(String.init)
        let machine = row.make()
        #expect(machine.phase == parts[0])
        #expect(machine.leases.isStopping == (parts.last == " stopping" || parts[0] == "stopped"))
    }

    @Test func `the documentation shows the table`() throws {
        let matrix = Self.matrix()
        print(matrix)
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let path = "/\(root)/Sources/Lifecycle/Lifecycle.docc/Lifecycle.md"
        let page = String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        #expect(page.contains("```\n\(matrix)\n```"), "put the printed table into Lifecycle.md")
    }
}

extension String {
    fileprivate var trimmed: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
