/// Makes Kakao's unlink webhook (developers.kakao.com, "Callback").
package enum KakaoUnlinkNotification {
    /// Why Kakao cut the link.
    package enum Reason: String, CaseIterable, Sendable {
        case accountDelete = "ACCOUNT_DELETE"
        /// Kakao deleted the account.
        case forcedAccountDelete = "FORCED_ACCOUNT_DELETE"
        case unlinkFromApps = "UNLINK_FROM_APPS"
        case unlinkFromAdmin = "UNLINK_FROM_ADMIN"
        /// The user never finished the sign-up.
        case incompleteSignUp = "INCOMPLETE_SIGN_UP"
    }

    /// Makes the call that Kakao would send; it is proved by the primary admin key of the
    /// application alone, not signed.
    package static func make(
        appID: String,
        userID: String,
        reason: Reason,
        adminKey: String
    ) -> SandboxNotification {
        SandboxNotification(
            contentType: "application/x-www-form-urlencoded;charset=utf-8",
            headers: ["authorization": "KakaoAK \(adminKey)"],
            body: "app_id=\(appID)&user_id=\(userID)&referrer_type=\(reason.rawValue)"
        )
    }
}
