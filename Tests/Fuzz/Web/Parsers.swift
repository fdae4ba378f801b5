import Dispatch
import NIOCore

let parsers: [String: Parser] = [
    "reply": reply, "id-token": idToken, "key-set": keySet, "signed-request": signedRequest,
    "security-event": securityEvent, "apple-event": appleEvent, "webhook": webhook, "resp": resp,
    "xml": xml, "retry-after": retryAfter, "note": note,
]

private let now = WallTime(unixMilliseconds: 1_780_000_000_000)
private let provider = ProviderName("fuzz")
private let secret = Secret("a-shared-secret-of-the-provider")
/// RFC 7515, appendix A.3.
private let signingKey = outcome {
    try SigningKey(
        pem: Secret(
            """
            -----BEGIN PRIVATE KEY-----
            MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgjpsQnnGQmL+YBIff
            H1136cspYG6+0iY7X1fCE9+E9LKhRANCAAR/zc4ncPbEXUGDy+5v20t7WAczNXvp
            7xO6z248e9FURcfxRM0bvZt+hyzf7bnuufSzaV1uqQskrYpGIyiFiOWt
            -----END PRIVATE KEY-----

            """
        ),
        credential: "fuzz",
        algorithm: .es256
    )
}

/// Waits for an answer that needs no other thread than the pool's.
private func wait(for body: @escaping @Sendable () async -> Void) {
    let done = DispatchSemaphore(value: 0)
    Task {
        await body()
        done.signal()
    }
    done.wait()
}

/// A refusal is well; most inputs are.
private func judge(
    _ receiver: some NotificationReceiver,
    _ notification: IncomingNotification
) async {
    do {
        _ = try await receiver.verify(notification)
    } catch {
        // Only traps count.
    }
}

/// A key set with one key, whose private half signs what is tried.
private let keySetBody: [UInt8] = {
    let x = "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
    let y = "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"
    let kind = #""kty":"EC","crv":"P-256","kid":"k","use":"sig","alg":"ES256""#
    let text = #"{"keys":[{\#(kind),"x":"\#(x)","y":"\#(y)"}]}"#
    return Array(text.utf8)
}()
private let keys = PublishedKeys(SigningKeyCache(now: { now }) { SigningKeySet(keySetBody) })

/// A token with these claims and a good signature.
private func token(_ claims: [UInt8], type: String) -> [UInt8] {
    let header = base64URL(Array(#"{"alg":"ES256","kid":"k","typ":"\#(type)"}"#.utf8))
    let signed = Array("\(header).\(base64URL(claims))".utf8)
    guard let signingKey, let signature = outcome({ try signingKey.sign(signed) }) else {
        fatalError("no signature")
    }
    return signed + Array(".\(base64URL(signature))".utf8)
}

private func base64URL(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    Base64URL.append(Array(bytes), to: &text)
    return String(decoding: text, as: UTF8.self)
}

private func code(_ bytes: [UInt8]) -> [UInt8] {
    secret.withBytes {
        KeyedHash.sha256(key: $0, message: bytes)
    }
}

/// An answer of a provider: its content type and its body, read whole and in pieces.
@Sendable private func reply(_ bytes: [UInt8]) {
    let input = parts(bytes, 2)
    let type = String(decoding: input[0], as: UTF8.self)
    let body = ReplyBody(RemoteReply(status: 200, contentType: type, body: input[1]))
    _ = body.grant
    _ = body.has(.member("error.code.0", .isPresent))
    let whole = JSONValue(input[1])
    var pieces = JSONPieces()
    let middle = input[1].count / 2
    let halves = outcome {
        _ = try pieces.take(input[1][..<middle])
        _ = try pieces.take(input[1][middle...])
    }
    guard halves != nil else { return }
    let joined = outcome { try pieces.finish() }
    expect((whole == nil) == (joined == nil), "pieces are read otherwise than the whole")
}

@Sendable private func idToken(_ bytes: [UInt8]) {
    judge(IDToken(Secret(bytes)))
    // Past the encoding: a header and claims.
    let input = parts(bytes, 2)
    let text = "\(base64URL(input[0])).\(base64URL(input[1])).AAAA"
    judge(IDToken(Secret(text)))
}

private func judge(_ token: IDToken?) {
    guard let token else { return }
    _ = (token.issuedAt, token.expiresAt, token.authenticatedAt, token.eventTime, token.subject)
    _ = token.isFor("client")
}

@Sendable private func keySet(_ bytes: [UInt8]) {
    _ = SigningKeySet(bytes)
}

/// Meta's callback: as it comes, and with a good signature.
@Sendable private func signedRequest(_ bytes: [UInt8]) {
    let receiver = MetaNotificationReceiver(
        provider: provider,
        clientIDs: ["app"],
        appSecret: secret,
        statusURLPrefix: "https://a/"
    )
    let payload = Array(base64URL(bytes).utf8)
    let signed = "signed_request=\(base64URL(code(payload)))."
    for body in [bytes, Array(signed.utf8) + payload] {
        let notification = IncomingNotification(
            body: body,
            fields: [MetaNotificationReceiver.callbackField: "data-deletion"],
            receivedAt: now
        )
        wait { await judge(receiver, notification) }
    }
}

/// A security event token: as it comes, and with a good signature.
@Sendable private func securityEvent(_ bytes: [UInt8]) {
    let receiver = SecurityEventReceiver(
        provider: provider,
        issuers: ["https://issuer.example"],
        audiences: ["app"],
        keys: keys
    )
    for body in [bytes, token(bytes, type: "secevent+jwt")] {
        let notification = IncomingNotification(body: body, receivedAt: now)
        wait { await judge(receiver, notification) }
    }
}

/// Apple's notification: as it comes, and with a good signature.
@Sendable private func appleEvent(_ bytes: [UInt8]) {
    let receiver = AppleNotificationReceiver(provider: provider, clientIDs: ["app"], keys: keys)
    let signed = String(decoding: token(bytes, type: "JWT"), as: UTF8.self)
    for body in [bytes, Array(#"{"payload":"\#(signed)"}"#.utf8)] {
        let notification = IncomingNotification(body: body, receivedAt: now)
        wait { await judge(receiver, notification) }
    }
}

/// GitHub's and Kakao's webhooks, with a good signature.
@Sendable private func webhook(_ bytes: [UInt8]) {
    let hexadecimal = code(bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    let github = GitHubNotificationReceiver(provider: provider, secret: secret)
    let kakao = KakaoNotificationReceiver(provider: provider, secret: secret)
    let toGitHub = IncomingNotification(
        body: bytes,
        fields: [
            "x-hub-signature-256": "sha256=" + hexadecimal.joined(),
            "x-github-event": "github_app_authorization",
        ],
        receivedAt: now
    )
    let toKakao = IncomingNotification(
        body: bytes,
        fields: ["authorization": "KakaoAK a-shared-secret-of-the-provider"],
        receivedAt: now
    )
    wait {
        await judge(github, toGitHub)
        await judge(kakao, toKakao)
    }
}

/// A reply of Redis: what a beginning already says, the whole says, too.
@Sendable private func resp(_ bytes: [UInt8]) {
    var whole = ByteBuffer(bytes: bytes)
    let value = outcome { try RESPDecoder.value(&whole, depth: 0) }.flatMap { $0 }
    var beginning = ByteBuffer(bytes: bytes.dropLast())
    let early = outcome { try RESPDecoder.value(&beginning, depth: 0) }.flatMap { $0 }
    guard let early else { return }
    expect(early == value, "a reply changes when more bytes come")
}

@Sendable private func xml(_ bytes: [UInt8]) {
    guard let element = XMLElement(bytes) else { return }
    let text = "<a>\(element.text.escapedForXML)</a>"
    guard let again = XMLElement(Array(text.utf8)) else { fatalError("cannot read our own") }
    expect(again.text == element.text, "a text changes when it is written again")
}

@Sendable private func retryAfter(_ bytes: [UInt8]) {
    guard let wait = RetryAfter.duration(String(decoding: bytes, as: UTF8.self), now: now) else {
        return
    }
    expect(wait >= Limits.retryAfterMin && wait <= Limits.backoffMax, "a wait beyond its bounds")
}

/// The file of checkpoints, note by note, in two pieces.
@Sendable private func note(_ bytes: [UInt8]) {
    var splitter = NoteSplitter()
    var notes = splitter.take(Array(bytes.prefix(bytes.count / 2)))
    notes += splitter.take(Array(bytes.dropFirst(bytes.count / 2)))
    var whole = NoteSplitter()
    expect(notes == whole.take(bytes), "notes depend on where the file is cut")
    for bytes in notes {
        guard let note = SignedNote(String(decoding: bytes, as: UTF8.self)) else { continue }
        expect(SignedNote(note.description) == note, "a note changes when it is written again")
        if let checkpoint = Checkpoint(text: note.text) {
            expect(Checkpoint(text: checkpoint.text) == checkpoint, "a checkpoint changes")
        }
        if let tombstones = TombstoneNote(text: note.text, origin: "expunged") {
            expect(tombstones.text == note.text, "tombstones change when they are written again")
        }
    }
    _ = NoteKey(String(decoding: bytes, as: UTF8.self))
}
