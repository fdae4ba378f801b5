import Foundation
import Testing

/// An id of a user, and another spelling of it, which may be somebody else's id.
struct SpelledPair: Sendable, CustomTestStringConvertible {
    let name: String
    let own: String
    let other: String

    var testDescription: String { name }

    /// Each pair has a number of its own in both ids, so that all can stand in one store.
    static let all = (letters + marks + blanks + numbers + escapes + names + digests)
        .enumerated().map { index, pair in
            let number = "\(index + 101)"
            return SpelledPair(name: pair.0, own: pair.1(number), other: pair.2(number))
        }

    typealias Entry = (String, @Sendable (String) -> String, @Sendable (String) -> String)

    /// Case, ligatures, and letters that some rules of comparison take for equal.
    private static let letters: [Entry] = [
        ("lower case", { "Ann\($0)" }, { "ann\($0)" }),
        ("upper case", { "Bob\($0)" }, { "BOB\($0)" }),
        ("swapped case", { "carL\($0)" }, { "CARl\($0)" }),
        ("sharp s in capitals", { "stra\u{df}e\($0)" }, { "STRASSE\($0)" }),
        ("sharp s as ss", { "fu\u{df}\($0)" }, { "fuss\($0)" }),
        ("capital sharp s", { "gro\u{df}\($0)" }, { "gro\u{1e9e}\($0)" }),
        ("dotless i", { "\u{131}da\($0)" }, { "ida\($0)" }),
        ("dotted capital I", { "\u{130}da\($0)" }, { "ida-\($0)" }),
        ("final sigma", { "\u{3c3}\u{3b1}\u{3c3}\($0)" }, { "\u{3c3}\u{3b1}\u{3c2}\($0)" }),
        ("Kelvin sign", { "k\($0)" }, { "\u{212a}\($0)" }),
        ("Ohm sign", { "\u{3a9}\($0)" }, { "\u{2126}\($0)" }),
        ("Angstrom sign", { "\u{c5}\($0)" }, { "\u{212b}\($0)" }),
        ("ligature fi", { "fin\($0)" }, { "\u{fb01}n\($0)" }),
        ("ligature oe", { "oeuf\($0)" }, { "\u{153}uf\($0)" }),
        ("ae", { "aesop\($0)" }, { "\u{e6}sop\($0)" }),
        ("stroke through l", { "lech\($0)" }, { "\u{142}ech\($0)" }),
        ("accent", { "anna\($0)" }, { "\u{e4}nna\($0)" }),
        ("two accents", { "resume\($0)" }, { "r\u{e9}sum\u{e9}\($0)" }),
        ("Cyrillic a", { "adam\($0)" }, { "\u{430}dam\($0)" }),
        ("circled digit", { "t1-\($0)" }, { "t\u{2460}-\($0)" }),
        ("superscript digit", { "t2-\($0)" }, { "t\u{b2}-\($0)" }),
        ("full-width letters", { "eve\($0)" }, { "\u{ff45}\u{ff56}\u{ff45}\($0)" }),
        ("half-width katakana", { "\u{30a2}\($0)" }, { "\u{ff71}\($0)" }),
        ("hiragana", { "\u{30ab}\($0)" }, { "\u{304b}\($0)" }),
        ("traditional and simplified", { "\u{9f8d}\($0)" }, { "\u{9f99}\($0)" }),
    ]

    /// Normalization, and characters that nobody sees.
    private static let marks: [Entry] = [
        ("NFC and NFD", { "\u{e9}\($0)" }, { "e\u{301}\($0)" }),
        ("NFD first", { "n\u{303}\($0)" }, { "\u{f1}\($0)" }),
        ("Hangul", { "\u{ac01}\($0)" }, { "\u{1100}\u{1161}\u{11a8}\($0)" }),
        ("two marks", { "\u{1ec7}\($0)" }, { "e\u{323}\u{302}\($0)" }),
        ("order of marks", { "o\u{323}\u{302}\($0)" }, { "o\u{302}\u{323}\($0)" }),
        ("grapheme joiner", { "uta\($0)" }, { "u\u{34f}ta\($0)" }),
        ("zero-width blank", { "vera\($0)" }, { "ve\u{200b}ra\($0)" }),
        ("zero-width joiner", { "vida\($0)" }, { "vi\u{200d}da\($0)" }),
        ("zero-width non-joiner", { "viola\($0)" }, { "vi\u{200c}ola\($0)" }),
        ("byte order mark", { "wim\($0)" }, { "\u{feff}wim\($0)" }),
        ("word joiner", { "wolf\($0)" }, { "wo\u{2060}lf\($0)" }),
        ("soft hyphen", { "xena\($0)" }, { "xe\u{ad}na\($0)" }),
        ("left-to-right mark", { "yara\($0)" }, { "yara\($0)\u{200e}" }),
        ("right-to-left mark", { "\u{5d0}\u{5d1}\($0)" }, { "\u{5d0}\u{200f}\u{5d1}\($0)" }),
        ("right-to-left override", { "yves\($0)" }, { "\u{202e}yves\($0)" }),
        ("variation selector", { "\u{263a}\($0)" }, { "\u{263a}\u{fe0f}\($0)" }),
        ("skin tone", { "\u{1f44d}\($0)" }, { "\u{1f44d}\u{1f3fd}\($0)" }),
        ("family", { "\u{1f468}\u{1f469}\($0)" }, { "\u{1f468}\u{200d}\u{1f469}\($0)" }),
        ("two emoji", { "\u{1f600}\($0)" }, { "\u{1f601}\($0)" }),
        ("flag", { "\u{1f1e9}\u{1f1ea}\($0)" }, { "\u{1f1ea}\u{1f1e9}\($0)" }),
    ]

    private static let blanks: [Entry] = [
        ("blank behind", { "zoe\($0)" }, { "zoe\($0) " }),
        ("two blanks behind", { "zita\($0)" }, { "zita\($0)  " }),
        ("blank before", { "zac\($0)" }, { " zac\($0)" }),
        ("two blanks inside", { "zu lu\($0)" }, { "zu  lu\($0)" }),
        ("no-break space", { "ze no\($0)" }, { "ze\u{a0}no\($0)" }),
        ("no-break space behind", { "zola\($0)" }, { "zola\($0)\u{a0}" }),
        ("ideographic space behind", { "zara\($0)" }, { "zara\($0)\u{3000}" }),
        ("tab behind", { "zena\($0)" }, { "zena\($0)\t" }),
        ("line feed behind", { "zora\($0)" }, { "zora\($0)\n" }),
        ("carriage return behind", { "zelda\($0)" }, { "zelda\($0)\r" }),
        ("NUL behind", { "abel\($0)" }, { "abel\($0)\u{0}" }),
        ("NUL and more behind", { "abby\($0)" }, { "abby\($0)\u{0}x" }),
        ("delete behind", { "aldo\($0)" }, { "aldo\($0)\u{7f}" }),
    ]

    private static let numbers: [Entry] = [
        ("leading zero", { $0 }, { "0\($0)" }),
        ("plus", { $0 }, { "+\($0)" }),
        ("fraction of zero", { $0 }, { "\($0).0" }),
        ("point behind", { $0 }, { "\($0)." }),
        ("exponent", { "\($0)0" }, { "\($0)e1" }),
        ("negative exponent", { $0 }, { "\($0)0E-1" }),
        ("exponent of zero", { $0 }, { "\($0)e0" }),
        ("negative number", { $0 }, { "-\($0)" }),
        ("minus of Unicode", { "-1\($0)" }, { "\u{2212}1\($0)" }),
        ("full-width digits", { $0 }, { shifted($0, 0xff10) }),
        ("Arabic digits", { $0 }, { shifted($0, 0x660) }),
        ("Devanagari digits", { $0 }, { shifted($0, 0x966) }),
        ("mathematical digits", { $0 }, { shifted($0, 0x1d7ce) }),
        ("hexadecimal", { $0 }, { "0x" + String(Int($0) ?? 0, radix: 16) }),
        ("octal", { $0 }, { "0" + String(Int($0) ?? 0, radix: 8) }),
        ("underscore", { $0 }, { $0.prefix(1) + "_" + $0.dropFirst() }),
        ("thousands", { "1\($0)" }, { "1,\($0)" }),
        ("blank before a number", { $0 }, { " \($0)" }),
        ("blank behind a number", { $0 }, { "\($0) " }),
        ("letter behind a number", { $0 }, { "\($0)a" }),
        ("word behind a number", { $0 }, { "\($0) OR 1=1" }),
        ("beyond the precision of doubles", { "9007199254740\($0)" }, { "9007199254740\($0).0" }),
        (
            "next beyond doubles", { "90071992547409\($0)" },
            { "\(90_071_992_547_409_000 + 1 + (Int($0) ?? 0))" }
        ),
        ("beyond 64 bits", { "18446744073709551\($0)" }, { "-\($0)9551615" }),
        ("very small", { $0 }, { "\($0).0000000000000000001" }),
    ]

    /// What languages and protocols write for a character.
    private static let escapes: [Entry] = [
        ("percent of a letter", { "ben\($0)" }, { "%62en\($0)" }),
        ("percent of a slash", { "be%2Fn\($0)" }, { "be%2fn\($0)" }),
        ("percent of a blank", { "be n\($0)" }, { "be%20n\($0)" }),
        ("plus for a blank", { "be t\($0)" }, { "be+t\($0)" }),
        ("percent twice", { "be%20x\($0)" }, { "be%2520x\($0)" }),
        ("percent of UTF-8", { "b\u{e9}\($0)" }, { "b%C3%A9\($0)" }),
        ("overlong percent", { "bo\($0)" }, { "bo%c0%80\($0)" }),
        ("JSON escape", { "cara\($0)" }, { "\\u0063ara\($0)" }),
        ("quote", { "ca'ra\($0)" }, { "ca''ra\($0)" }),
        ("escaped quote", { "ca\"l\($0)" }, { "ca\\\"l\($0)" }),
        ("in quotes", { "cato\($0)" }, { "\"cato\($0)\"" }),
        ("in single quotes", { "cleo\($0)" }, { "'cleo\($0)'" }),
        ("backslash", { "co\\ra\($0)" }, { "co\\\\ra\($0)" }),
        ("backslash before a letter", { "cyd\($0)" }, { "c\\yd\($0)" }),
        ("percent sign", { "d%\($0)" }, { "dxx\($0)" }),
        ("low line", { "d_n\($0)" }, { "don\($0)" }),
        ("asterisk", { "d*\($0)" }, { "dora\($0)" }),
        ("question mark", { "d?n\($0)" }, { "dan\($0)" }),
        ("brackets", { "[de]\($0)" }, { "d\($0)" }),
        ("braces", { "{user_id}\($0)" }, { "user_id\($0)" }),
        ("dollar", { "$1-\($0)" }, { "1-\($0)" }),
        ("ampersand", { "e&a\($0)" }, { "e&amp;a\($0)" }),
        ("number sign", { "e#\($0)" }, { "e\($0)" }),
        ("semicolon", { "e;--\($0)" }, { "e\($0)--" }),
        ("caret", { "f^\($0)" }, { "f\($0)^" }),
        ("base64", { "dan\($0)" }, { Data("dan\($0)".utf8).base64EncodedString() }),
        ("base64url", { "a+/\($0)==" }, { "a-_\($0)" }),
    ]

    /// Paths, addresses, and words with a meaning.
    private static let names: [Entry] = [
        ("slash behind", { "gil\($0)" }, { "gil\($0)/" }),
        ("slash before", { "gus\($0)" }, { "/gus\($0)" }),
        ("slash inside", { "g-o\($0)" }, { "g/o\($0)" }),
        ("fraction slash", { "g/a\($0)" }, { "g\u{2044}a\($0)" }),
        ("point and slash", { "hal\($0)" }, { "./hal\($0)" }),
        ("two points", { "hui\($0)" }, { "x/../hui\($0)" }),
        ("point behind", { "han\($0)" }, { "han\($0)." }),
        ("point before", { "hob\($0)" }, { ".hob\($0)" }),
        ("two slashes", { "h/i\($0)" }, { "h//i\($0)" }),
        ("stream of Windows", { "hub\($0)" }, { "hub\($0)::$DATA" }),
        ("domain in capitals", { "ida@x\($0).org" }, { "ida@X\($0).ORG" }),
        ("plus in an address", { "ivo@x\($0).org" }, { "ivo+y@x\($0).org" }),
        ("international domain", { "i@b\u{fc}\($0).de" }, { "i@xn--b-xka\($0).de" }),
        ("prefix", { "jo\($0)" }, { "jo\($0)1" }),
        ("suffix", { "ju\($0)" }, { "1ju\($0)" }),
        ("NULL", { "null\($0)" }, { "NULL\($0)" }),
        ("true", { "true\($0)" }, { "TRUE\($0)" }),
        (
            "last of 255 bytes", { String(repeating: "k", count: 251) + $0 + "1" },
            { String(repeating: "k", count: 251) + $0 + "2" }
        ),
        (
            "255 and 254 bytes", { $0 + String(repeating: "l", count: 252) },
            { $0 + String(repeating: "l", count: 251) }
        ),
        (
            "256 bytes", { $0 + String(repeating: "m", count: 252) },
            { $0 + String(repeating: "m", count: 253) }
        ),
    ]

    /// UUIDs and bytes.
    private static let digests: [Entry] = [
        ("UUID in capitals", { uuid($0) }, { uuid($0).uppercased() }),
        ("UUID without dashes", { uuid($0) }, { bare($0) }),
        ("UUID in braces", { uuid($0) }, { "{\(uuid($0))}" }),
        ("UUID as a URN", { uuid($0) }, { "urn:uuid:\(uuid($0))" }),
        ("UUID of both cases", { uuid($0) }, { uuid($0).replacing("a5f0", with: "A5f0") }),
        ("dashes elsewhere", { uuid($0) }, { "0190-a5f0-c0de-7000-8000-0000-0000-0\($0)" }),
        ("dashes of Unicode", { uuid($0) }, { uuid($0).replacing("-", with: "\u{2010}") }),
        ("UUID with a blank", { uuid($0) }, { " \(uuid($0))" }),
        ("UUID with 0x", { bare($0) }, { "0x\(bare($0))" }),
        ("UUID as bytea", { bare($0) }, { "\\x\(bare($0))" }),
        ("UUID as X''", { bare($0) }, { "X'\(bare($0))'" }),
        ("as many digits as a UUID has characters", { many($0) }, { many($0).uppercased() }),
        ("digits in capitals", { "abcdef0\($0)" }, { "ABCDEF0\($0)" }),
        ("digits of both cases", { "fedcba0\($0)" }, { "Fedcba0\($0)" }),
        ("leading zero byte", { "ab0\($0)" }, { "00ab0\($0)" }),
        ("zero byte behind", { "ac0\($0)" }, { "ac0\($0)00" }),
    ]

    private static func uuid(_ number: String) -> String {
        "0190a5f0-c0de-7000-8000-000000000\(number)"
    }

    /// 36 digits, and no dash among them.
    private static func many(_ number: String) -> String {
        String(repeating: "0190a5f0c0d", count: 3) + number
    }

    private static func bare(_ number: String) -> String {
        uuid(number).replacing("-", with: "")
    }

    /// The digits of another script, which begin at a code point.
    private static func shifted(_ digits: String, _ start: UInt32) -> String {
        String(
            String.UnicodeScalarView(
                digits.unicodeScalars.compactMap { Unicode.Scalar($0.value - 0x30 + start) }
            )
        )
    }
}
