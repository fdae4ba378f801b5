/// Text that ends neither a label of a host nor a name of a path.
enum HostLabel {
    static let requirement = "1 to 63 letters a-z, digits or inner '-'"

    static func accepts(_ text: String) -> Bool {
        (1...63).contains(text.utf8.count) && text.first != "-" && text.last != "-"
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
    }
}
