/// An identity that an operator had forgotten: nothing can be revoked for it any more.
package struct ForgottenIdentity: Codable, Hashable, Sendable {
    package let provider: ProviderName
    package let at: WallTime
    /// The operator's.
    package let uid: UInt32

    package init(provider: ProviderName, at: WallTime, uid: UInt32) {
        (self.provider, self.at, self.uid) = (provider, at, uid)
    }
}
