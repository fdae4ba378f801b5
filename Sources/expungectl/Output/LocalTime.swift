import ArgumentParser
import Control
import Glibc
import Lifecycle

/// Times in the zone of the machine, or of the variable TZ.
enum LocalTime {
    static var now: WallTime { WallTime(unixMilliseconds: Int64(time(nil)) * 1000) }

    /// Such as `2026-11-23 09:41:07 CET`.
    static func full(_ time: WallTime) -> String { text(time, "%Y-%m-%d %H:%M:%S %Z") }

    /// ``full(_:)`` with the distance from now, such as `(3h ago)`.
    static func distant(_ time: WallTime) -> String {
        "\(full(time)) (\(distance(time, now: now)))"
    }

    /// Such as `in 3h` or `3h ago`; `now` within a second.
    static func distance(_ time: WallTime, now: WallTime) -> String {
        if abs(time.unixMilliseconds - now.unixMilliseconds) < 1000 { return "now" }
        return time > now ? "in \(span(time.since(now)))" : "\(span(now.since(time))) ago"
    }

    /// `09:41` on the same day, else `Nov 23` or, after most of a year, `2026-11`.
    static func short(_ time: WallTime, now: WallTime) -> String {
        if text(time, "%F") == text(now, "%F") { return text(time, "%H:%M") }
        return text(time, now.since(time) < .seconds(300 * 86_400) ? "%b %e" : "%Y-%m")
    }

    /// Whole seconds, minutes, hours or days, such as `3h`.
    static func span(_ duration: Duration) -> String {
        PageText.span(duration, ["s", "m", "h", "d"])
    }

    private static func text(_ time: WallTime, _ format: String) -> String {
        var seconds = time_t(time.unixMilliseconds / 1000)
        var parts = unsafe tm()
        unsafe localtime_r(&seconds, &parts)
        var bytes = [CChar](repeating: 0, count: 64)
        let count = unsafe strftime(&bytes, bytes.count, format, &parts)
        return String(decoding: bytes.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension TimeZoneFile {
    static func check(_ name: String) throws(ValidationError) {
        guard rules(named: name) == nil else { return }
        throw ValidationError(
            "no time zone '\(name)' in /usr/share/zoneinfo; try Europe/Berlin or UTC"
        )
    }
}
