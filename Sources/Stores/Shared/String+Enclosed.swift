extension String {
    /// What stands between two texts, by bytes; `nil` for nothing, and where it is no text.
    func enclosed(by head: String, _ tail: String) -> String? {
        let count = utf8.count - head.utf8.count - tail.utf8.count
        guard count > 0, utf8.starts(with: head.utf8),
            utf8.suffix(tail.utf8.count).elementsEqual(tail.utf8)
        else { return nil }
        return String(validating: utf8.dropFirst(head.utf8.count).prefix(count), as: UTF8.self)
    }
}
