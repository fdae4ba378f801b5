internal import CLinux
internal import Glibc

/// Bounds what a library holds for one connection, in a program with `CAllocator`.
@safe package final class LibraryMemory {
    private let meter: OpaquePointer?

    /// Without a bound it does not count.
    package init(byteCountMax: Int64?) {
        unsafe meter = byteCountMax.flatMap { unsafe clinux_make_meter($0) }
    }

    deinit { unsafe free(UnsafeMutableRawPointer(meter)) }

    /// An allocation of the library was refused.
    package var isFull: Bool { unsafe clinux_meter_is_full(meter) != 0 }

    /// Makes a call in which the library alone allocates on this thread: Swift would trap.
    package func counting<Answer>(_ call: () -> Answer) -> Answer {
        guard unsafe meter != nil else { return call() }
        unsafe clinux_meter_begin(meter)
        defer { clinux_meter_end() }
        return call()
    }
}
