/// Takes server-sent events apart
/// (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
///
/// Only `data` matters: each event carries its kind and sequence inside its JSON.
struct EventParser {
    /// The longest line, in bytes; an event of ours has less than one kilobyte.
    static let lineByteCountMax = 64 * 1024

    private var line: [UInt8] = []
    private var data: [UInt8] = []

    /// Takes the next bytes, cut anywhere, and returns the data of each event that is complete;
    /// `nil` when a line is too long.
    mutating func take(_ bytes: some Sequence<UInt8>) -> [[UInt8]]? {
        var events: [[UInt8]] = []
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                guard line.count < Self.lineByteCountMax else { return nil }
                line.append(byte)
                continue
            }
            endLine(&events)
        }
        return events
    }

    private mutating func endLine(_ events: inout [[UInt8]]) {
        defer { line.removeAll(keepingCapacity: true) }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if line.isEmpty {
            if !data.isEmpty { events.append(data) }
            data.removeAll()
            return
        }
        let prefix = Array("data:".utf8)
        guard line.starts(with: prefix) else { return }
        let value = line.dropFirst(prefix.count)
        if !data.isEmpty { data.append(UInt8(ascii: "\n")) }
        data.append(contentsOf: value.first == UInt8(ascii: " ") ? value.dropFirst() : value)
    }
}
