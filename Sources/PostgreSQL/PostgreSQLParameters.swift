/// The values of a statement in the server's binary format; used again for the next one.
@safe package struct PostgreSQLParameters {
    /// Types by their number in `pg_type`.
    package enum TypeID {
        package static let unknown: UInt32 = 0
        package static let bool: UInt32 = 16
        package static let bytea: UInt32 = 17
        package static let int8: UInt32 = 20
        package static let int2: UInt32 = 21
        package static let int4: UInt32 = 23
        package static let text: UInt32 = 25
        package static let numeric: UInt32 = 1700
    }

    /// `TypeID.unknown` for NULL.
    package private(set) var types: [UInt32] = []
    private var bytes: [UInt8] = []
    /// Where each value begins; -1 for NULL.
    private var places: [Int] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    package init() {}

    package var count: Int { types.count }

    package mutating func removeAll() {
        types.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
    }

    package mutating func appendNull() { append(TypeID.unknown, at: -1, 0) }

    package mutating func append(_ value: Int64) {
        let place = bytes.count
        append(bigEndian: UInt64(bitPattern: value))
        append(TypeID.int8, at: place, 8)
    }

    /// `nil` is NULL, of the type of a text.
    package mutating func append(text: String?) {
        guard let text else { return append(TypeID.text, at: -1, 0) }
        let place = bytes.count
        bytes.append(contentsOf: text.utf8)
        append(TypeID.text, at: place, bytes.count - place)
    }

    package mutating func append(_ value: [UInt8]) {
        let place = bytes.count
        bytes.append(contentsOf: value)
        append(TypeID.bytea, at: place, value.count)
    }

    /// 16 bytes.
    package mutating func append(high: UInt64, low: UInt64) {
        let place = bytes.count
        append(bigEndian: high)
        append(bigEndian: low)
        append(TypeID.bytea, at: place, 16)
    }

    private mutating func append(bigEndian value: UInt64) {
        for shift in stride(from: 56, through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(shift)))
        }
    }

    private mutating func append(_ type: UInt32, at place: Int, _ length: Int) {
        types.append(type)
        places.append(place)
        lengths.append(Int32(clamping: length))
        formats.append(1)
    }

    /// Overwrites the values, for texts that must not stay in memory.
    package mutating func wipe() {
        for index in bytes.indices { bytes[index] = 0 }
    }

    /// Hands on values, lengths and formats as libpq takes them.
    func withArrays<Result>(
        _ body: (
            UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
        ) -> Result
    ) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            let start = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
            return unsafe withUnsafeTemporaryAllocation(
                of: UnsafePointer<CChar>?.self,
                capacity: max(1, places.count)
            ) { pointers in
                for (index, place) in places.enumerated() {
                    // NULL is a nil pointer; the empty value is not.
                    let known = unsafe start.map { unsafe $0 + place } ?? Self.empty
                    let value = unsafe place < 0 ? nil : known
                    unsafe pointers.initializeElement(at: index, to: value)
                }
                return unsafe lengths.withUnsafeBufferPointer { lengths in
                    unsafe formats.withUnsafeBufferPointer { formats in
                        unsafe body(
                            pointers.baseAddress.map { unsafe UnsafePointer($0) },
                            lengths.baseAddress,
                            formats.baseAddress
                        )
                    }
                }
            }
        }
    }

    private static var empty: UnsafePointer<CChar>? {
        let text: StaticString = ""
        return unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
