import Encoding
import Engine
import Lifecycle

/// A vendor's text, of which only words of the language are kept.
///
/// It may quote tokens, codes, addresses and names. Rather too much goes than too little: whatever
/// stands in quotes, was sent, or does not look like a word.
struct VendorText {
    /// Texts beyond it are no sentences for people.
    private static let sizeMax = 4096
    /// Shorter values that were sent are looked for as words, and not in words.
    private static let partMin = 6
    private static let gap = "…"
    private static let quotes = "\"“”„‟＂″'‘’‚‛`´＇′«»‹›「」『』《》〈〉<>＜＞"
    /// Stands for the apostrophe of "doesn't", which opens no quote; no text has it.
    private static let apostrophe = "\u{f8fe}"
    /// Stands for the code of the error, which may look like a secret; no text has it.
    private static let codeMark = "\u{f8fd}"

    private let text: String
    /// Values that were sent, in lower case.
    private let sent: [String]
    /// Letters with a number behind; other codes look like words.
    private let code: String?

    /// `code` stays wherever it stands; a closer one behind a slash counts.
    init(_ text: String, sent: [String], code: String? = nil) {
        let closest = code?.split(separator: "/").last.map(String.init)
        self.code = closest?.wholeMatch(of: /[A-Za-z]+[0-9]+/) == nil ? nil : closest
        // Nor are words of such a length, which would be searched again and again.
        self.text =
            text.utf8.count <= Self.sizeMax
            ? Self.plain(text).split(separator: " ").map { $0.count > 200 ? Self.gap : String($0) }
                .joined(separator: " ") : ""
        self.sent = sent.flatMap { Self.plain($0).lowercased().split(separator: " ") }
            .map(String.init).filter { $0.count > 1 }
    }

    /// The text, at most ``VendorAnswer/wordsMax`` characters; `nil` when nothing is left of it.
    ///
    /// It is cut last: half a secret would not be known for one.
    var redacted: String? {
        var text = self.text.replacing(
            #/((?:^| )\p{L}+)['’](t|s|re|ve|ll|d|m)(?=[ .,;:!?\)]|$)/#
        ) { "\($0.1)\(Self.apostrophe)\($0.2)" }
        if let code { text = text.replacing(code, with: Self.codeMark) }
        // The quotes of what was sent still open and close.
        text = text.split(separator: " ").map { word in
            isSent(word) ? word.filter { Self.quotes.contains($0) } + Self.gap : String(word)
        }.joined(separator: " ")
        // A quote inside a word does not close: it may be part of a name.
        text.replace(/["“”„‟＂″].*?(?:["“”„‟＂″](?![\p{L}\p{N}])|$)/, with: Self.gap)
        text.replace(/['‘’‚‛`´＇′].*?(?:['‘’‚‛`´＇′](?![\p{L}\p{N}])|$)/, with: Self.gap)
        text.replace(/[«»‹›].*?(?:[«»‹›](?![\p{L}\p{N}])|$)/, with: Self.gap)
        text.replace(/[「『《〈<＜].*?(?:[」』》〉>＞](?![\p{L}\p{N}])|$)/, with: Self.gap)
        // Cards, telephones, addresses of machines and dates, with all of the words that they are
        // in.
        text.replace(/[^ ]*\p{N}(?:[ \-‐‑‒–—.\/\(\)+,_]*\p{N}){5,}[^ ]*/, with: Self.gap)
        text.replace(/[^ ]*[0-9]+(?:\.[0-9]+){3}[^ ]*/, with: Self.gap)
        // Blanks around the sign of an address hide its parts.
        text.replace(
            /(?:[^ ]+ )?[@＠﹫](?: [^ ]+)?|[^ ]*(?:[@＠﹫]|\(at\)|\[at\])[^ ]*/,
            with: Self.gap
        )
        // Names of people in brackets, or behind a word for them.
        text.replace(/\[[^\]]*\]/, with: Self.gap)
        text = text.replacing(
            #/
            (?i)((?:^|[\ _])
            (?:user(?:name)?|login|name|account|e?-?mail|phone|id|sub(?:ject)?|customer|member
            |ip|address)
            (?:\ [:=]\ ?|[:=]\ ))[^\ ]+
            /#
        ) { "\($0.1)\(Self.gap)" }
        var kept: [String] = []
        for word in text.split(separator: " ").map({ shown(String($0)) })
        where word != Self.gap || kept.last != word {
            kept.append(word)
        }
        let all = kept.joined(separator: " ").replacing(Self.apostrophe, with: "'")
            .replacing(Self.codeMark, with: code ?? "")
        guard all.contains(where: \.isLetter) else { return nil }
        guard all.count > VendorAnswer.wordsMax else { return all }
        return String(all.prefix(VendorAnswer.wordsMax - 1)) + Self.gap
    }

    /// Without what is not seen, and with one kind of blank.
    private static func plain(_ text: String) -> String {
        var scalars = String.UnicodeScalarView()
        for scalar in text.unicodeScalars where !scalar.properties.isDefaultIgnorableCodePoint {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .spaceSeparator:
                scalars.append(" ")
            case .format, .surrogate, .privateUse, .unassigned: continue
            default: scalars.append(scalar)
            }
        }
        return String(scalars)
    }

    /// Whether a word has a value that was sent in it, or is a part of one.
    private func isSent(_ word: Substring) -> Bool {
        let small = word.lowercased()
        let pieces = small.split { !$0.isLetter && !$0.isNumber }.map(String.init)
        return sent.contains { value in
            let isWord = value.count < Self.partMin && !value.contains { !$0.isLetter }
            return isWord ? pieces.contains(value) : small.contains(value)
        }
            || pieces.contains { piece in
                piece.count >= Self.partMin && sent.contains { $0.contains(piece) }
            }
    }

    private func shown(_ word: String) -> String {
        let core = Self.core(of: word)
        guard !core.isEmpty else { return word }
        if let url = core.wholeMatch(of: /(\p{L}+:\/\/)([A-Za-z0-9.\-]+)([\/?#].*)?/) {
            let isPlain = !url.2.split(separator: ".").contains { Self.isSecret(String($0)) }
            return isPlain ? "\(url.1)\(url.2)" + (url.3 == nil ? "" : "/…") : Self.gap
        }
        // A name and its value; a base64 text ends with the sign, too.
        if let pair = core.wholeMatch(of: /([\p{L}_\-]+)([=:])[^=].*/),
            !Self.isSecret(String(pair.1))
        {
            return "\(pair.1)\(pair.2)…"
        }
        let marks = "_-./'’,;()+#\(Self.apostrophe)\(Self.codeMark)"
        let isWord = core.allSatisfy { $0.isLetter || $0.isNumber || marks.contains($0) }
        let isPath = core.hasPrefix("/") || core.count(where: { $0 == "/" }) > 1
        return isWord && !isPath && !Self.isSecret(core) ? word : Self.gap
    }

    private static func core(of word: String) -> String {
        let isMark = { (character: Character) in ".,;:!?()[]{}*…-–—".contains(character) }
        let start = word.drop(while: isMark)
        return String(String(start.reversed()).drop(while: isMark).reversed())
    }

    /// Whether it looks like a token, a hash or a key.
    private static func isSecret(_ word: String) -> Bool {
        let letters = word.count(where: \.isLetter)
        let digits = word.count(where: \.isNumber)
        // Base64 changes between small and large letters, names of errors do so seldom.
        let turns = zip(word, word.dropFirst()).count { $0.isLowercase && $1.isUppercase }
        let kinds = [
            word.contains(where: \.isLowercase), word.contains(where: \.isUppercase), digits > 0,
            word.contains { !$0.isLetter && !$0.isNumber && $0 != "_" },
        ]
        return [
            word.count > 48,
            word.count > 24 && kinds.count { $0 } > 1,
            word.count > 11 && (turns > 2 || letters > 0 && digits > 0),
            word.count > 7 && word.allSatisfy(\.isHexDigit),
            word.count > 5 && letters > 1 && digits > 1,
        ].contains(true)
    }
}

extension AnswerRecorder {
    /// Records an answer that is no success.
    ///
    /// A success replaces nothing: another endpoint or client may have refused before it.
    func record(_ outcome: RemoteOutcome, to request: RemoteRequest) {
        guard case .reply(let reply) = outcome else { return record(nil) }
        let json = reply.isPage ? nil : JSONValue(reply.body)
        let isSuccess =
            (200...299).contains(reply.status) && !reply.isPage && json?["error"] == nil
        if !isSuccess { record(answer(reply, json, to: request)) }
    }

    private func answer(
        _ reply: RemoteReply,
        _ json: JSONValue?,
        to request: RemoteRequest
    ) -> VendorAnswer {
        let refusal = Refusal(status: reply.status, error: json?.errorCode)
        guard purpose != .code, !reply.isPage else { return VendorAnswer(refusal) }
        let text: String? =
            if let json { json.errorText } else { String(validating: reply.body, as: UTF8.self) }
        let words = text.flatMap {
            VendorText($0, sent: request.sentValues, code: refusal.error).redacted
        }
        return VendorAnswer(refusal, words: words)
    }
}
