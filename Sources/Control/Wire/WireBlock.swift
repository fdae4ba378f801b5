/// What keeps a target from erasing a user.
package struct WireBlock: WireRecord, Codable, Hashable {
    package var target: String
    /// ``Lifecycle/Obstacle/Kind``.
    package var error: String

    package init(target: String, error: String) { (self.target, self.error) = (target, error) }

    package static let members: [WireMember<WireBlock>] = [
        .required("target", \.target, "The target that refuses the purge."),
        .required("error", \.error, "A code: what stands in the way."),
    ]
}
