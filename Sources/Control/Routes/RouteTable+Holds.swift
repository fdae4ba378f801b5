extension RouteTable {
    /// Holds on targets.
    static let holds: [Route] = [
        row(
            .listHolds,
            .get,
            "/v1/holds",
            .operator,
            "The holds on targets, the oldest first.",
            .object(WireList<WireHold>.self)
        ),
        row(
            .holdTarget,
            .put,
            "/v1/holds/{name}",
            .operator,
            "Let nothing be purged from a target, or not these rows, until it is released.",
            .object(WireHold.self),
            input: HoldInput.self,
            problems: [.filterRefused, .missingField, .unknownTarget, .wrongState]
        ),
        row(
            .liftHold,
            .post,
            "/v1/holds/{name}/release",
            .operator,
            "Lift a hold; what waited for it goes on.",
            .object(WireHold.self),
            input: EmptyInput.self,
            problems: [.holdNotFound]
        ),
    ]
}
