import HTTP
import Lifecycle

extension RemoteSettings {
    /// Of a store that answers with pages of listings.
    ///
    /// A page has 1,000 names of up to 1,024 bytes, or 1 MiB of items; escapes make more of both.
    static func pages(of name: StoreName, concurrency: Int) -> RemoteSettings {
        var settings = RemoteSettings(owner: .store(name), concurrency: concurrency)
        settings.answerMax = 8 << 20
        return settings
    }
}
