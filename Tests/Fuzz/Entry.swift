import Glibc

/// Reads the bytes of one input; a trap or a broken promise ends the process.
typealias Parser = @Sendable (_ bytes: [UInt8]) -> Void

/// The one that `FUZZ_PARSER` names; each program has a few.
private let parser: Parser = {
    guard let name = unsafe getenv("FUZZ_PARSER").map({ unsafe String(cString: $0) }),
        let parser = name == "planted" ? planted : parsers[name]
    else { fatalError("FUZZ_PARSER must be one of \(parsers.keys.sorted())") }
    return parser
}()

/// What libFuzzer calls with each input (llvm.org/docs/LibFuzzer.html, "Fuzz Target").
@_cdecl("LLVMFuzzerTestOneInput")
package func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    unsafe parser(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

/// Traps behind five bytes that only somebody finds who sees how far each guess came.
@Sendable private func planted(_ bytes: [UInt8]) {
    guard bytes.count == 5, bytes[0] == 0x7b, bytes[1] == 0xc3, bytes[2] ^ bytes[0] == 0x11,
        bytes[3] > 0xf0, bytes[4] == 0x0a
    else { return }
    _ = bytes[Int(bytes[3])]
}

/// Ends the process when something does not hold that must hold for every input.
func expect(_ holds: Bool, _ what: StaticString) {
    if !holds { fatalError("\(what)") }
}

/// What a parser makes of an input; `nil` when it refuses it, which is well.
func outcome<Value, Failure: Error>(
    _ read: () throws(Failure) -> Value
) -> Value? {
    do throws(Failure) {
        return try read()
    } catch {
        // Most inputs are refused; only traps and broken promises count.
        return nil
    }
}

/// The input in as many parts as its first bytes say, for parsers that take several.
func parts(_ bytes: [UInt8], _ count: Int) -> [[UInt8]] {
    var parts = bytes.split(
        separator: 0xff,
        maxSplits: count - 1,
        omittingEmptySubsequences: false
    ).map { Array($0) }
    while parts.count < count { parts.append([]) }
    return parts
}
