extension String {
    /// The name as manuals and columns write it: `spoolInWAL` is `spool_in_wal`.
    package var snakeCased: String {
        var text = ""
        for character in self {
            if character.isUppercase, text.last?.isLowercase ?? false { text += "_" }
            text.append(character)
        }
        return text.lowercased()
    }
}
