let parsers: [String: Parser] = ["spool-row": row]

private struct Hasher: KeyedHasher {
    func hash(_ text: String, domain: HashDomain) -> [UInt8] {
        [UInt8](repeating: UInt8(text.utf8.count & 0xff), count: 32)
    }
}

/// A row as an application may have written it; the first byte names its table.
@Sendable private func row(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let table: SpoolTable = first & 1 == 0 ? .requests : .credentials
    let cells = parts(Array(bytes.dropFirst()), table.inputColumns.count).map(cell)
    let checks = SpoolChecks(spoolID: "fuzz", hasher: Hasher())
    let sorted = checks.sort([SpoolRawRow(table: table, id: 1, cells: cells)])
    let batch = sorted.batch
    let count = batch.requests.count + batch.refused.count + batch.credentials.count
    expect(count + sorted.refusedCredentials.count == 1, "a row is lost, or taken twice")
}

/// Nothing, a text, or something else.
private func cell(_ bytes: [UInt8]) -> SpoolCell {
    switch bytes.first {
    case 0: .null
    case 1: .other(type: "blob", bytes: Array(bytes.dropFirst()))
    default: .text(String(decoding: bytes, as: UTF8.self))
    }
}
