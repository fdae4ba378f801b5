import FoundationEssentials

/// Whether bars of time, memory and rate are held: by `make bars`, alone on a machine.
///
/// The gate holds none: what it says must not depend on what else the machine does.
package enum Bars {
    package static let areHeld = ProcessInfo.processInfo.environment["BARS"] != nil
}
