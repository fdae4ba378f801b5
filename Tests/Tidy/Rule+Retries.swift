extension Rule {
    /// How long work that failed waits is a policy of `Retry.swift`.
    ///
    /// Files of limits may hold what a policy is made of.
    static let retryDelays = Rule("retry-delay") { file in
        guard file.isSwift, !file.isTest, !file.name.hasSuffix("Limits.swift"),
            file.name != "Retry.swift"
        else { return [] }
        let found = ["static let ", "static var "].flatMap { keyword in
            file.offsets(of: keyword).filter { isDelay($0 + keyword.utf8.count, in: file) }
        }
        let advice = "a named policy of Sources/Lifecycle/Retry.swift, if something has failed"
        return found.sorted().map { (file.line(of: $0), advice) }
    }

    /// Whether the constant whose name begins there is a time to wait.
    private static func isDelay(_ offset: Int, in file: SourceFile) -> Bool {
        let rest = file.code[offset..<file.range(ofLine: file.line(of: offset)).upperBound]
        let name = String(decoding: rest.prefix(while: SourceFile.isWord), as: UTF8.self)
        let words = name.lowercased()
        guard words.contains("retry") || words.contains("pause") || words.contains("backoff")
        else { return false }
        let isDuration = SourceFile.offsets(of: "Duration", in: Array(rest)).isEmpty == false
        return isDuration || words.hasSuffix("milliseconds")
    }
}
