import Encoding
import Glibc
import Testing

@Suite("Whole files") struct FileBytesTests {
    @Test(
        "are read to their end, or to the bound",
        arguments: [(0, ""), (3, "abc"), (5, "abcde"), (9, "abcde")]
    )
    func bounds(_ countMax: Int, _ text: String) {
        var ends: [Int32] = [-1, -1]
        let answer = unsafe pipe(&ends)
        #expect(answer == 0)
        let isWritten = FileBytes.write(Array("abcde".utf8), to: ends[1])
        close(ends[1])
        var bytes = Array("former".utf8)
        let isRead = FileBytes.read(ends[0], into: &bytes, atMost: countMax)
        close(ends[0])
        #expect(isWritten && isRead)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    @Test("leave the reason in errno when they cannot be read or written")
    func failures() {
        var bytes: [UInt8] = []
        let (isRead, cause) = (FileBytes.read(-1, into: &bytes, atMost: 1), errno)
        #expect(!isRead && cause == EBADF)
        let (isWritten, reason) = (FileBytes.write([0], to: -1), errno)
        #expect(!isWritten && reason == EBADF)
    }
}
