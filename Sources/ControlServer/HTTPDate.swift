import Lifecycle

/// The `Date` field (RFC 9110 §6.6.1) as an IMF-fixdate (§5.6.7).
enum HTTPDate {
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// A time from 1970 on, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func text(_ time: WallTime) -> String {
        let parts = time.rfc3339.split { "-T.".contains($0) }
        let weekday = weekdays[Int(time.unixMilliseconds / 86_400_000 % 7)]
        let month = Int(parts[1]).map { months[$0 - 1] } ?? ""
        return "\(weekday), \(parts[2]) \(month) \(parts[0]) \(parts[3]) GMT"
    }
}
