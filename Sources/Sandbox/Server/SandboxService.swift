/// What every connection shares: the families, the faults, the admin routes.
struct SandboxService: Sendable {
    let families: [any ProviderFamily]
    let faults: FaultInjector
    let admin: AdminRoutes

    /// The family that claims a path, and its endpoint.
    func route(
        method: String,
        path: String
    ) -> (family: any ProviderFamily, endpoint: SandboxEndpoint)? {
        for family in families {
            if let endpoint = family.endpoint(method: method, path: path) {
                return (family, endpoint)
            }
        }
        return nil
    }
}
