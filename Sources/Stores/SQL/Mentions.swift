/// Finds and replaces a text where it stands as a word, by the same rules as the patterns of the
/// servers (``wordClass``).
enum Mentions {
    /// What belongs to a word, as ranges of scalars: ASCII letters and digits, `_`, and the letters
    /// of other scripts, without punctuation, symbols and pictures.
    static let words: [ClosedRange<UInt32>] = [
        0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a, 0xc0...0x1fff, 0x2c00...0x2dff,
        0x3040...0xd7ff, 0xf900...0xfdff, 0xfe70...0xfefe, 0xff10...0xffdc, 0x10000...0x1cfff,
        0x20000...0x3ffff,
    ]

    static func isWord(_ character: Character) -> Bool {
        character.unicodeScalars.first.map(isWord) ?? false
    }

    private static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        words.contains { $0.contains(scalar.value) }
    }

    /// The text with each needle replaced, maybe in any case of ASCII letters, as `NOCASE`
    /// compares; `nil` when there is none.
    static func replace(
        _ needle: String,
        in text: String,
        by replacement: String,
        beginsWord: Bool,
        endsWord: Bool,
        foldsCase: Bool = false
    ) -> String? {
        let (needle, scalars) = (Array(needle.unicodeScalars), Array(text.unicodeScalars))
        guard !needle.isEmpty, scalars.count >= needle.count else { return nil }
        let isSame = { (one: Unicode.Scalar, other: Unicode.Scalar) in
            one == other || foldsCase && lower(one) == lower(other)
        }
        var kept = String.UnicodeScalarView()
        var (index, isFound) = (0, false)
        while index < scalars.count {
            let end = index + needle.count
            if end <= scalars.count, isSame(scalars[index], needle[0]),
                scalars[index..<end].elementsEqual(needle, by: isSame),
                !(beginsWord && index > 0 && isWord(scalars[index - 1])),
                !(endsWord && goesOn(scalars[end...]))
            {
                kept.append(contentsOf: replacement.unicodeScalars)
                (index, isFound) = (end, true)
            } else {
                kept.append(scalars[index])
                index += 1
            }
        }
        return isFound ? String(kept) : nil
    }

    private static func lower(_ scalar: Unicode.Scalar) -> UInt32 {
        (0x41...0x5a).contains(scalar.value) ? scalar.value + 0x20 : scalar.value
    }

    /// A word goes on with a letter or digit, or with one behind a dot or dash.
    private static func goesOn(_ rest: ArraySlice<Unicode.Scalar>) -> Bool {
        guard let first = rest.first else { return false }
        if isWord(first) { return true }
        guard first == "." || first == "-", let next = rest.dropFirst().first else { return false }
        return isWord(next)
    }
}
