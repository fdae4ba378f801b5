package import NIOSSL

extension RemoteSettings {
    /// TLS 1.2 or newer with full verification, by the system's authorities or by those of
    /// ``caFile`` alone.
    ///
    /// - Throws: ``SetupError`` when the file cannot be used.
    package func tlsConfiguration() throws(SetupError) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        tls.certificateVerification = .fullVerification
        guard let caFile else { return tls }
        do {
            let roots = try NIOSSLCertificate.fromPEMFile(caFile)
            guard !roots.isEmpty else {
                throw SetupError(kind: .unreadableCAFile, owner: owner)
            }
            tls.trustRoots = .certificates(roots)
        } catch {
            throw SetupError(kind: .unreadableCAFile, owner: owner)
        }
        return tls
    }
}
