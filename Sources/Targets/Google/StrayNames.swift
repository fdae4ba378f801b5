import Lifecycle

/// What no rule leads to, for the coverage of a store without a schema.
enum StrayNames {
    /// The configured rules, and the names beside them; so many that they are probably named after
    /// users are only counted.
    static func findings(
        rules: [String],
        strays: [String],
        kind: String
    ) -> [CoverageFinding] {
        let configured = rules.map {
            CoverageFinding(name: $0, reason: "configured", isCovered: true)
        }
        guard strays.count <= PathCoverage.namesMax else {
            let reason = "\(strays.count) \(kind) or more, no rule leads there"
            return configured + [CoverageFinding(name: "*", reason: reason, isCovered: false)]
        }
        return configured
            + strays.map {
                CoverageFinding(name: $0, reason: "no rule leads there", isCovered: false)
            }
    }
}
