/// How a client shows who it is; names as registered for RFC 8414
/// `token_endpoint_auth_methods_supported`.
enum ClientAuthentication: String, Sendable, CaseIterable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
    case secretJWT = "client_secret_jwt"
    case privateKeyJWT = "private_key_jwt"
    case none
}
