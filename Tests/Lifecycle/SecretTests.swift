import Lifecycle
import Testing

/// No textual view shows a secret or a user id, however it is asked for.
struct SecretTests {
    private struct Holder {
        let name = "holder"
        let secret = Secret("hunter2-token")
        let user = UserID("hunter2-user")
        let list = [Secret("hunter2-list")]
        let choice = Choice.some(Secret("hunter2-choice"))
    }

    private enum Choice { case some(Secret) }

    @Test func `no view of a secret, a user id or a value with one shows it`() throws {
        let holder = Holder()
        let user = try #require(holder.user)
        var views = [
            "\(holder.secret)", String(describing: holder.secret),
            String(reflecting: holder.secret), "\(user)", String(describing: user),
            String(reflecting: user), "\(holder)", String(reflecting: holder),
            "\([holder.secret])", "\([user])", "\(["a": holder.secret])",
            "\(holder.secret as Any)", "\(Optional(user) as Any)",
            holder.secret.description, holder.secret.debugDescription, user.description,
            user.debugDescription,
        ]
        var dumped = ""
        dump(holder, to: &dumped)
        dump(user, to: &dumped)
        dump(holder.secret, to: &dumped)
        var printed = ""
        print(holder, holder.secret, user, to: &printed)
        debugPrint(holder, holder.secret, user, to: &printed)
        views += [dumped, printed]
        for view in views { #expect(!view.contains("hunter2")) }
        #expect(Mirror(reflecting: holder.secret).children.isEmpty)
        #expect(Mirror(reflecting: user).children.isEmpty)
        #expect("\(holder.secret)" == "[redacted]")
    }

    @Test func `an error with a secret shows nothing of it`() {
        struct Failure: Error { let secret = Secret("hunter2-error") }
        #expect(!"\(Failure())".contains("hunter2"))
        #expect(!String(reflecting: Failure()).contains("hunter2"))
    }

    @Test func `bytes come back as they went in, and the caller keeps its own`() {
        let bytes: [UInt8] = [0, 1, 2, 250, 255]
        do {
            let secret = Secret(bytes)
            #expect(secret.count == 5)
            #expect(secret.withBytes { $0 == bytes })
        }
        #expect(bytes == [0, 1, 2, 250, 255])
        #expect(Secret("täst").exposeText() == "täst")
        #expect(Secret([UInt8]()).withBytes(\.isEmpty))
    }

    @Test func `secrets are compared by their bytes`() {
        #expect(Secret("abc").isEqual(to: Secret("abc")))
        #expect(!Secret("abc").isEqual(to: Secret("abd")))
        #expect(!Secret("abc").isEqual(to: Secret("ab")))
        #expect(Secret("").isEqual(to: Secret("")))
    }
}
