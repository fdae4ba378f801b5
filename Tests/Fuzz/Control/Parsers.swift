import NIOHTTP1

let parsers: [String: Parser] = ["json": json, "head": head, "inputs": inputs]

/// A value that was read is written as the same value.
@Sendable private func json(_ bytes: [UInt8]) {
    guard let value = outcome({ try JSONReader.read(bytes) }) else { return }
    var writer = JSONWriter()
    writer.value(value)
    // Numbers have many spellings; what we wrote ourselves has one.
    guard let again = outcome({ try JSONReader.read(writer.bytes) }) else {
        fatalError("cannot read our own")
    }
    var second = JSONWriter()
    second.value(again)
    expect(writer.bytes == second.bytes, "a value changes when it is written again")
}

private let check = HeadCheck(router: Router(), role: .operator)

/// The head of a request, split into lines; a name that is no token does not come through NIO.
@Sendable private func head(_ bytes: [UInt8]) {
    var lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false)
        .map { String(decoding: $0, as: UTF8.self) }[...]
    let words = (lines.popFirst() ?? "").split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3 else { return }
    let version = words[2] == "HTTP/1.1" ? HTTPVersion.http1_1 : .http1_0
    var head = HTTPRequestHead(
        version: version,
        method: HTTPMethod(rawValue: String(words[0])),
        uri: String(words[1])
    )
    for line in lines {
        let field = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard field.count == 2, field[0].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else { return }
        head.headers.add(name: String(field[0]), value: String(field[1].drop { $0 == " " }))
    }
    guard let checked = outcome({ try check.check(head) }) else { return }
    expect(version == .http1_1, "an old version is taken")
    expect(head.headers["host"].count == 1, "a head without its one host is taken")
    _ = outcome { try WireRequestFilter(query: checked.query) }
}

/// Every body that a route takes; the first byte says which.
@Sendable private func inputs(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let body = Array(bytes.dropFirst())
    switch first % 9 {
    case 0: _ = outcome { try WireSubmission(body: body) }
    case 1: _ = outcome { try SubmittedCredential(body: body) }
    case 2: _ = outcome { try ReplayTerms(body: body) }
    case 3: _ = outcome { try ReauthorizeInput(body: body) }
    case 4: _ = outcome { try HoldInput(body: body) }
    case 5: _ = outcome { try PlanInput(body: body) }
    case 6: _ = outcome { try OverrideInput(body: body) }
    case 7: _ = outcome { try ApproveInput(body: body) }
    default:
        _ = outcome { try ReasonInput(body: body) }
        _ = outcome { try AbandonInput(body: body) }
    }
}
