extension Rule {
    /// A row is written by the names of its columns: their order in the table may change.
    static let columnList = Rule("column-list") { file in
        guard file.isSwift, file.path.hasPrefix("Sources/Storage/") else { return [] }
        let blanks: Set = [UInt8(ascii: " "), UInt8(ascii: "\n")]
        let statement = "INSERT INTO "
        return file.rawOffsets(of: statement).compactMap { offset in
            let table = file.bytes[(offset + statement.utf8.count)...]
            let rest = table.drop { !blanks.contains($0) }.drop { blanks.contains($0) }
            guard rest.first != UInt8(ascii: "(") else { return nil }
            return (file.line(of: offset), "name the columns, from the list of the table")
        }
    }
}
