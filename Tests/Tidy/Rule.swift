/// One check of the source tree; looks at one file at a time.
struct Rule: Sendable, CustomStringConvertible {
    let name: String
    let check: @Sendable (SourceFile) -> [Finding]

    var description: String { name }

    init(_ name: String, check: @escaping @Sendable (SourceFile) -> [(line: Int, advice: String)]) {
        self.name = name
        self.check = { file in
            check(file).map {
                Finding(rule: name, path: file.path, line: $0.line, advice: $0.advice)
            }
        }
    }

    /// Every rule; each has a bad sample in `RuleTests`.
    static let all: [Rule] =
        [
            plainStrings,
            imports, fileLength, functionLength, lineLength, fileNames, documentation,
            throwsDocumented,
            retryDelays, extensions, executableBits, blanks, ticketedTodos, size,
            proseWidth, sentenceLength, guideLength, plainWords, coinedNames,
            wireTypes, columnList,
        ] + BannedText.all.map(\.rule)
}
