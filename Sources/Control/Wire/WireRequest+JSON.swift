package import Encoding
import Lifecycle

/// The same JSON as the synthesized encoding, by hand: every submission answers with it.
extension WireRequest {
    package func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("id", id.description)
            writer.member("kind", kind.description)
            writer.member("user_id", userID)
            writer.member("state", state.description)
            writer.member("detail", detail)
            writer.member("held_by", heldBy)
            writer.member("blocked_by", blockedBy)
            writer.member("created_at", createdAt.rfc3339)
            writer.member("updated_at", updatedAt.rfc3339)
            writer.member("accepted_at", acceptedAt?.rfc3339)
            writer.member("deadline_at", deadlineAt?.rfc3339)
            writer.member("next_at", nextAt?.rfc3339)
            writer.member("identities", identities) { writer, item in item.write(to: &writer) }
            writer.member("steps", steps) { writer, item in item.write(to: &writer) }
            writer.member("forgotten", forgotten) { writer, item in item.write(to: &writer) }
            writer.member("addenda", addenda) { writer, item in item.write(to: &writer) }
        }
    }
}

extension WireIdentity {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("identity_id", identityID.description)
            writer.member("provider", provider)
            writer.member("client_id", clientID)
            writer.member("verdict", verdict?.description)
            writer.member("state", state.description)
            writer.member("credential_count", credentialCount)
            writer.member("subject_first_seen", isSubjectFirstSeen)
            if let userAction {
                writer.name("user_action")
                writer.object { writer in
                    writer.member("url", userAction.url)
                    writer.member("text", userAction.text)
                    writer.member("configured", userAction.isConfigured)
                }
            }
            if let unheld {
                writer.name("not_held")
                writer.object { writer in
                    writer.member("lost_codes", unheld.lostCodes)
                    writer.member("refused_credentials", unheld.refusedCredentials)
                }
            }
            if let failedCode {
                writer.name("failed_code")
                writer.object { writer in
                    writer.member("created_at", failedCode.createdAt.rfc3339)
                    writer.member("outcome", failedCode.outcome.description)
                    writer.member("failures", failedCode.failures)
                    writer.member("status", failedCode.status)
                    writer.member("error", failedCode.error)
                }
            }
            writer.member("updated_at", updatedAt?.rfc3339)
        }
    }
}

extension WireAnswer {
    /// Writes the member, and not the object alone.
    fileprivate func write(to writer: inout JSONWriter) {
        writer.name("answer")
        writer.object { writer in
            writer.member("status", status)
            writer.member("error", error)
            writer.member("words", words)
            writer.member("named", isNamed)
        }
    }
}

extension ForgottenIdentity {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("provider", provider.rawValue)
            writer.member("at", at.rfc3339)
            writer.member("uid", Int(uid))
        }
    }
}

extension WireAddendum {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("at", at.rfc3339)
            writer.member("identity_id", identityID.description)
            writer.member("provider", provider)
            writer.member("verdict", verdict.description)
            writer.member("event", event)
            writer.member("occurred_at", occurredAt.rfc3339)
            writer.member("evidence", evidence)
        }
    }
}

extension WireStep {
    func write(to writer: inout JSONWriter) {
        writer.object { writer in
            writer.member("name", name)
            writer.member("kind", kind.description)
            writer.member("provider", provider)
            writer.member("target", target)
            writer.member("state", state.description)
            writer.member("attempts", attempts)
            writer.member("verdict", verdict)
            writer.member("last_error", lastError)
            answer?.write(to: &writer)
            writer.member("obstacle", obstacle)
            writer.member("started_at", startedAt?.rfc3339)
            writer.member("ended_at", endedAt?.rfc3339)
            writer.member("duration_ms", durationMilliseconds)
            writer.member("retry_at", retryAt?.rfc3339)
        }
    }
}
