import Testing

@testable import Daemon
@testable import Settings

/// SplitMix64 (Steele, Lea, Flood 2014): small, fast and the same everywhere.
private struct SeededRandom: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}

@Suite("No file ends the process")
struct MutationTests {
    private static let fragments = [
        "[", "]", "{", "}", "\"", "'", "\"\"\"", "'''", "=", ".", ",", "#", "\n", "\\", "\\u0000",
        "[[provider]]\n", "[[store.table]]\n", "[store.table.set.x]\n", "a.b.c = 1\n", "0x",
        "1e9",
        "1979-05-27", "inf", "-", "\u{feff}", "\u{0}", "é", "9223372036854775808", "[[", "]]",
    ].map { Array($0.utf8) }

    @Test("2000 mutations of the example load or give located problems")
    func mutations() throws {
        let seed: UInt64 = 20_261_121
        var random = SeededRandom(state: seed)
        let original = try ProjectFiles.bytes("Config/examples/apple-sqlite.toml")
        var loadedCount = 0
        for round in 0..<2000 {
            let bytes = Self.mutate(original, random: &random)
            do {
                _ = try DaemonConfiguration.parse(bytes, file: "t.toml")
                loadedCount += 1
            } catch {
                let lineCount = bytes.count { $0 == 0x0a } + 1
                #expect(!error.problems.isEmpty, "seed \(seed), round \(round)")
                #expect(
                    error.problems.allSatisfy { (1...lineCount).contains($0.line ?? 0) },
                    "seed \(seed), round \(round): \(error)"
                )
            }
        }
        // Comments and names change harmlessly; if nothing loads, or all, nothing was tested.
        #expect((20...1900).contains(loadedCount), "\(loadedCount)")
    }

    private static func mutate(_ original: [UInt8], random: inout SeededRandom) -> [UInt8] {
        var bytes = original
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let start = Int.random(in: 0..<bytes.count, using: &random)
            let end = min(bytes.count, start + Int.random(in: 1...12, using: &random))
            switch Int.random(in: 0..<5, using: &random) {
            case 0: bytes[start] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(start..<end)
            case 2:
                bytes.insert(contentsOf: fragments.randomElement(using: &random) ?? [], at: start)
            case 3: bytes.insert(contentsOf: bytes[start..<end], at: start)
            default: bytes[start] = UInt8.random(in: 0x20...0x7e, using: &random)
            }
        }
        return bytes
    }
}
