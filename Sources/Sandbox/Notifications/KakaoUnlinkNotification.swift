/// Makes Kakao's unlink webhook (developers.kakao.com, "Callback").
package enum KakaoUnlinkNotification {
    /// Why Kakao cut the link.
    package enum Reason: String, CaseIterable, Sendable {
        /// The Kakao account is deleted.
        case accountDelete = "ACCOUNT_DELETE"
        /// Kakao deleted the account.
        case forcedAccountDelete = "FORCED_ACCOUNT_DELETE"
        /// The user removed the application.
        case unlinkFromApps = "UNLINK_FROM_APPS"
        /// An administrator removed the user.
        case unlinkFromAdmin = "UNLINK_FROM_ADMIN"
        /// The user never finished the sign-up.
        case incompleteSignUp = "INCOMPLETE_SIGN_UP"
    }

    /// Makes the call that Kakao would send; it is proved by the admin key alone, not signed.
    ///
    /// - Parameters:
    ///   - appID: The application.
    ///   - userID: The application's user number at Kakao.
    ///   - reason: Why.
    ///   - adminKey: The primary admin key of the application.
    /// - Returns: The notification.
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
