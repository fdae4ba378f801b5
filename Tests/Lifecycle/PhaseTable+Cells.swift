import Lifecycle
import Testing

extension PhaseTable {
    /// Expected outcomes by row and event.
    typealias Cells = [String: [EventColumn: String]]

    /// Reads a table; a word that is no event and a cell that is given twice fail the test.
    static func cells(of text: String) throws -> Cells {
        var cells: Cells = [:]
        var row = ""
        for line in text.split(separator: "\n") {
            guard line.hasPrefix("  ") else {
                row = String(line)
                try #require(cells[row] == nil, "row '\(row)' is there twice")
                cells[row] = [:]
                continue
            }
            let parts = line.split(separator: ":")
            let outcome = String(parts[0].drop { $0 == " " })
            for word in parts[1].split(separator: " ") {
                let column = try #require(EventColumn(rawValue: String(word)), "'\(word)'")
                try #require(cells[row]?[column] == nil, "'\(row)' has \(column) twice")
                cells[row]?[column] = outcome
            }
        }
        return cells
    }

    /// The compact matrix of a kind of request, as the documentation shows it.
    static func matrix(_ kind: RequestKind) throws -> String {
        let width = (PhaseRow.allCases.map(\.name.count).max() ?? 0) + 1
        func line(_ name: String, _ cells: [String]) -> String {
            let padded = cells.map { $0 + String(repeating: " ", count: max(1, 4 - $0.count)) }
            let text = name + String(repeating: " ", count: width - name.count) + padded.joined()
            return String(text.reversed().drop { $0 == " " }.reversed())
        }
        var lines = [line("", EventColumn.allCases.map(\.head))]
        for row in PhaseRow.allCases where kind == .deleteAccount || row.isWithoutPurge {
            let machine = try row.machine(kind)
            let codes = EventColumn.allCases.map { Outcome(of: $0.event, on: machine).code }
            lines.append(line(row.name, codes))
        }
        return lines.joined(separator: "\n")
    }
}
