import Encoding
import Lifecycle

/// The body of a message: type, timestamp and data, as Standard Webhooks proposes
/// (github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md, "Payload
/// structure").
///
/// Nothing in it is personal: a request is named by its id alone.
enum MessageBody {
    static func bytes(of message: OutgoingMessage) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("type", "\(message.topic.rawValue).\(message.subject)")
            writer.member("timestamp", message.occurredAt.rfc3339)
            writer.name("data")
            writer.object { writer in
                switch message.topic {
                case .request, .confirmation:
                    writer.member("request_id", message.request?.description)
                    writer.member("kind", message.kind)
                    writer.member("state", message.subject)
                    writer.member("reason", message.detail)
                case .alarm:
                    writer.member("event", message.subject)
                    writer.member("severity", message.kind)
                    writer.member("text", message.detail)
                    writer.member("request_id", message.request?.description)
                }
                // Rises with each message: the later of two has the newer state.
                writer.member("sequence", message.id.sequence)
            }
        }
    }
}
