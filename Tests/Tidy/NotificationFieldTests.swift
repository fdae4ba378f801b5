import Testing

@Suite("The header fields of notifications")
struct NotificationFieldTests {
    /// Where the control API lists those that it hands on; it does not see the receivers.
    private static let list = "Sources/Control/Input/NotificationInput.swift"

    @Test("that receivers read are those that the control API hands on")
    func areHandedOn() throws {
        let tree = try SourceTree.shared.get()
        let text = String(decoding: try tree.file(Self.list).bytes, as: UTF8.self)
        let start = try #require(text.firstRange(of: "fieldNames = [")).upperBound
        let names = text[start...].prefix { $0 != "]" }
            .split(separator: "\"", omittingEmptySubsequences: false)
            .enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
        var read: Set<String> = []
        for file in tree.files where file.isSwift && file.path.hasPrefix("Sources/Providers/") {
            read.formUnion(try Self.fields(readIn: file))
        }
        #expect(read == Set(names))
    }

    /// The names in `fields["NAME"]`, and in `fields[Self.constant]` of a constant in the file.
    private static func fields(readIn file: SourceFile) throws -> [String] {
        let text = String(decoding: file.bytes, as: UTF8.self)
        var names: [String] = []
        for range in text.ranges(of: "fields[") {
            let key = text[range.upperBound...].prefix { $0 != "]" }
            guard key.hasPrefix("Self.") else {
                names.append(String(key.dropFirst().dropLast()))
                continue
            }
            let declaration = "let \(key.dropFirst(5)) = \""
            let value = try #require(text.firstRange(of: declaration)).upperBound
            names.append(String(text[value...].prefix { $0 != "\"" }))
        }
        return names
    }
}
