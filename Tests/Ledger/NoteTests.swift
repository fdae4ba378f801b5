import Lifecycle
import Testing
import Vault

@testable import Ledger

@Suite("Checkpoints and notes")
struct NoteTests {
    private let checkpoint = Checkpoint(
        origin: "expunged.example/main",
        size: 1234,
        root: Array(repeating: 7, count: 32),
        time: WallTime(unixMilliseconds: 1_700_000_000_123)
    )

    @Test("a checkpoint comes back from its text, and from no other text")
    func roundTrip() {
        let text = checkpoint.text
        #expect(Checkpoint(text: text) == checkpoint)
        #expect(Checkpoint(text: text + "more\n") == nil)
        #expect(Checkpoint(text: text.replacing("1234", with: "01234")) == nil)
        #expect(Checkpoint(text: text.replacing("1234", with: "-1")) == nil)
        #expect(Checkpoint(text: String(text.dropLast())) == nil)
    }

    @Test("a note is signed over its text, and a key finds its own signatures only")
    func signing() throws {
        let secret = try LedgerKey.example()
        let key = try #require(
            NoteKey(name: "expunged.example/main", publicKey: secret.publicKey)
        )
        let signature = try secret.sign(Array(checkpoint.text.utf8))
        let note = SignedNote(
            text: checkpoint.text,
            signatures: [.init(keyName: key.name, keyID: key.id, bytes: signature)]
        )
        let read = try #require(SignedNote(note.description))
        #expect(read == note)
        #expect(key.signatures(of: read) == [signature])
        #expect(key.isSigner(of: read))
        let other = try #require(
            NoteKey(name: key.name, publicKey: Array(repeating: 1, count: 32))
        )
        #expect(other.signatures(of: read).isEmpty)
    }

    @Test("the key of the specification's example has the specification's id")
    func knownKey() throws {
        // golang.org/x/mod/sumdb/note, the verifier key of the Go checksum database.
        let text = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"
        let key = try #require(NoteKey(text))
        #expect(key.name == "sum.golang.org")
        #expect(key.description == text)
        #expect(NoteKey(text.replacing("033de0ae", with: "033de0af")) == nil)
    }

    @Test(
        "what is no note is refused",
        arguments: [
            "", "text\n", "text\n\n", "text\n\n\u{2014} name AAAA\n", "text\n\n- name AAAAAAA=\n",
            "text\n\n\u{2014} name AAAAAAB=\n", "text\n\n\u{2014} name AAAAAAA=",
        ]
    )
    func refused(text: String) {
        #expect(SignedNote(text) == nil)
    }

    @Test("a note whose text has empty lines keeps them")
    func emptyLines() throws {
        let note = try #require(SignedNote("a\n\nb\n\n\u{2014} name AAAAAAA=\n"))
        #expect(note.text == "a\n\nb\n")
    }

    @Test("an entry is one line of JSON in alphabetical order, and takes no free text")
    func entry() throws {
        let time = WallTime(unixMilliseconds: 0)
        let entry = try #require(
            LedgerEntry(at: time, [.state: .word("completed"), .rows: .number(16)])
        )
        #expect(
            String(decoding: entry.bytes, as: UTF8.self)
                == #"{"rows":16,"state":"completed","time":"1970-01-01T00:00:00.000Z"}"#
        )
        for text in ["", "two words", "a\"b", "a@b", String(repeating: "x", count: 65)] {
            #expect(LedgerEntry(at: time, [.detail: .word(text)]) == nil)
        }
        let keys = LedgerEntry.Key.allCases.map(\.rawValue)
        #expect(keys == keys.sorted())
    }
}
