internal import CLinux
internal import Glibc

/// Bounds what libpq holds for one connection, in a program with `CAllocator`.
@safe final class LibraryMemory {
    private let meter: OpaquePointer?

    init(byteCountMax: Int64) { unsafe meter = clinux_make_meter(byteCountMax) }

    deinit { unsafe free(UnsafeMutableRawPointer(meter)) }

    /// An allocation of the library was refused.
    var isFull: Bool { unsafe clinux_meter_is_full(meter) != 0 }

    /// Makes a call in which the library alone allocates on this thread: Swift would trap.
    func counting<Answer>(_ call: () -> Answer) -> Answer {
        unsafe clinux_meter_begin(meter)
        defer { clinux_meter_end() }
        return call()
    }
}
