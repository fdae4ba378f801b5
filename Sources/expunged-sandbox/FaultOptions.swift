import ArgumentParser
import Sandbox

/// The options that make a fault plan.
struct FaultOptions: ParsableArguments {
    @Option(help: "Share of the calls that fail, 0 to 1.")
    var faultRate = 0.0

    @Option(
        help: ArgumentHelp(
            "Kinds of faults with commas between them, or 'all'.",
            discussion: FaultKind.allCases.map(\.rawValue).joined(separator: ", ")
        )
    )
    var faultKinds = "all"

    @Option(
        help: "Endpoints whose calls may fail (token, revoke, check, keys, discovery), or 'all'."
    )
    var faultEndpoints = "all"

    @Option(help: "Providers whose calls may fail, with commas between them, or 'all'.")
    var faultProviders = "all"

    @Option(help: "The same seed fails the same calls, in the order of calls, in the same way.")
    var seed: UInt64 = 1

    @Option(help: "How many calls may fail at most.")
    var faultLimit: Int?

    @Option(help: "How long a 'delay' lasts, such as 200ms or 2s.")
    var faultDelay = "200ms"

    @Option(help: "What Retry-After says, such as 1s.")
    var retryAfter = "1s"

    @Option(help: "A token whose calls are answered 400 invalid_request; may be given again.")
    var unserviceable: [String] = []

    func plan() throws -> FaultPlan {
        guard (0...1).contains(faultRate) else {
            throw ValidationError("--fault-rate is between 0 and 1.")
        }
        var plan = FaultPlan(
            rate: faultRate,
            kinds: try Self.list(faultKinds, "fault kind"),
            endpoints: try Self.list(faultEndpoints, "endpoint"),
            seed: seed,
            limit: faultLimit
        )
        plan.providers =
            faultProviders == "all" ? nil : try Self.list(faultProviders, "provider")
        plan.delayMilliseconds = try TimeSpan.milliseconds(faultDelay)
        plan.unserviceable = unserviceable
        plan.retryAfterSeconds = Int(try TimeSpan.milliseconds(retryAfter) / 1000)
        return plan
    }

    private static func list<Item>(_ text: String, _ what: String) throws -> [Item]
    where Item: RawRepresentable & CaseIterable, Item.RawValue == String {
        guard text != "all" else { return Array(Item.allCases) }
        return try text.split(separator: ",").map { name in
            guard let item = Item(rawValue: String(name)) else {
                let known = Item.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("unknown \(what) '\(name)'; there are: \(known)")
            }
            return item
        }
    }
}

/// Reads durations with a unit: `200ms`, `30s`, `10m`, `2h`, `1d`, with a sign before them if need
/// be.
enum TimeSpan {
    private static let units: [(suffix: String, milliseconds: Int64)] = [
        ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]

    static func milliseconds(_ text: String) throws -> Int64 {
        for (suffix, factor) in units where text.hasSuffix(suffix) {
            guard let count = Int64(text.dropLast(suffix.count)) else { continue }
            let (result, isTooLong) = count.multipliedReportingOverflow(by: factor)
            guard !isTooLong else { break }
            return result
        }
        throw ValidationError("'\(text)' is not a duration with a unit, such as 10m.")
    }
}
