/// How the sandbox plays Facebook.
package struct FacebookConfiguration: Sendable {
    /// What a deletion of permissions answers when the app is not installed (any more); Meta does
    /// not document it.
    package enum RepeatedDelete: String, CaseIterable, Sendable {
        /// Code 100, subcode 33: no such object.
        case notFound = "not-found"
        /// Code 190, subcode 458: the app is not installed.
        case notInstalled = "not-installed"
        case success
    }

    package var clients = [ClientRegistration("1234567890123456", secret: "facebook-app-secret")]
    package var repeatedDelete = RepeatedDelete.notFound
    /// Whether the success is a bare `true`, as in old versions.
    package var answersBareTrue = false

    package init() {}
}
