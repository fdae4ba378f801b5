import Control
import FoundationEssentials
import Lifecycle

/// Turns one request into one call of the backend, and its outcome into an answer.
struct Dispatcher: Sendable {
    /// What a request brings.
    enum Reply: Sendable {
        case answer(ServerAnswer)
        case events(AsyncStream<WireEvent>)
    }

    let backend: any ControlBackend

    /// Answers one request; every failure becomes a problem document.
    func reply(to request: ServerRequest, caller: Caller) async -> Reply {
        do throws(ControlProblem) {
            return try await call(request, caller)
        } catch {
            return .answer(ServerAnswer(error))
        }
    }

    private func call(
        _ request: ServerRequest,
        _ caller: Caller
    ) async throws(ControlProblem)
        -> Reply
    {
        switch request.match.route.operation {
        case .submitRequest:
            let submission = try Submission(body: request.body)
            let taken = try await backend.submit(
                submission,
                idempotencyKey: request.idempotencyKey,
                caller: caller
            )
            var answer = answer(taken, status: 202)
            answer.fields.append(("location", "/v1/requests/\(taken.id)"))
            return .answer(answer)
        case .makePlan:
            let input = try PlanInput(body: request.body)
            return .answer(try encoded(try await backend.makePlan(for: input.user, caller: caller)))
        case .abandonRequest, .approveRequest, .cancelRequest, .holdRequest, .listRequests,
            .reauthorizeRequest,
            .releaseRequest, .retryRequest, .showPlan, .showReceipt, .showRequest:
            return .answer(try await requests(request, caller))
        case .forgetIdentity, .holdUser, .listIdentities, .putCredential, .releaseUser:
            return .answer(try await users(request, caller))
        case .notificationStatus, .takeNotification:
            return .answer(try await notifications(request, caller))
        case .checkProvider, .checkTarget, .listProviders, .listTargets, .pauseProvider,
            .pauseTarget, .resumeProvider, .resumeTarget:
            return .answer(try await components(request, caller))
        case .holdTarget, .liftHold, .listHolds:
            return .answer(try await holds(request, caller))
        case .metrics, .overrideGuard, .pauseIntake, .reloadConfiguration, .resumeIntake,
            .rotateVault, .showVault, .status:
            return .answer(try await daemon(request, caller))
        case .showReplay:
            return .answer(try encoded(try await backend.replay(caller: caller)))
        case .startReplay:
            let input = try ReplayInput(body: request.body)
            let started = try await backend.startReplay(input, caller: caller)
            return .answer(try encoded(started, status: 202))
        case .acceptRollback, .ledgerEntries, .showLedger, .verifyLedger:
            return .answer(try await ledger(request, caller))
        case .watchAll: return .events(try await backend.events(nil, caller: caller))
        case .watchRequest:
            return .events(try await backend.events(try requestID(request), caller: caller))
        }
    }

    private func requests(
        _ request: ServerRequest,
        _ caller: Caller
    ) async throws(ControlProblem)
        -> ServerAnswer
    {
        if request.match.route.operation == .listRequests {
            let page = try await backend.list(RequestFilter(query: request.query), caller: caller)
            return answer(page)
        }
        let id = try requestID(request)
        switch request.match.route.operation {
        case .showRequest: return answer(try await backend.show(id, caller: caller), status: 200)
        case .showPlan: return try encoded(try await backend.plan(of: id, caller: caller))
        case .showReceipt:
            return try encoded(try await backend.receipt(id, caller: caller))
        case .reauthorizeRequest:
            let input = try ReauthorizeInput(body: request.body)
            return answer(
                try await backend.reauthorize(id, with: input, caller: caller),
                status: 200
            )
        default:
            let action = try action(request)
            return answer(try await backend.act(action, on: id, caller: caller), status: 200)
        }
    }

    private func action(_ request: ServerRequest) throws(ControlProblem) -> RequestAction {
        let operation = request.match.route.operation
        if operation == .approveRequest {
            return .approve(plan: try ApproveInput(body: request.body).plan)
        }
        guard operation == .holdRequest || operation == .abandonRequest else {
            _ = try EmptyInput(body: request.body)
            return operation == .cancelRequest
                ? .cancel : operation == .releaseRequest ? .release : .retry
        }
        let input = try ReasonInput(body: request.body)
        guard operation == .abandonRequest else { return .hold(reason: input.reason) }
        guard let reason = input.reason else {
            throw ControlProblem(
                .missingField,
                "'reason' is missing",
                errors: [.init(field: "reason", message: "is missing")]
            )
        }
        return .abandon(reason: reason, provider: input.provider)
    }

    private func users(
        _ request: ServerRequest,
        _ caller: Caller
    ) async throws(ControlProblem)
        -> ServerAnswer
    {
        guard let user = UserID(request.match.values[0]) else {
            throw ControlProblem(.malformedUserID)
        }
        switch request.match.route.operation {
        case .putCredential:
            guard let name = PathText.componentName(request.match.values[1]) else {
                throw ControlProblem(.unknownProvider)
            }
            let input = try CredentialInput(body: request.body)
            let stored = try await backend.putCredential(
                input,
                user: user,
                provider: ProviderName(name),
                caller: caller
            )
            return try encoded(stored, status: 202)
        case .forgetIdentity:
            guard let identity = IdentityID(request.match.values[1]) else {
                throw ControlProblem(.identityNotFound)
            }
            try await backend.forgetIdentity(identity, of: user, caller: caller)
            return ServerAnswer(status: 204)
        case .holdUser:
            let input = try ReasonInput(body: request.body)
            return try encoded(
                try await backend.setHold(true, user: user, reason: input.reason, caller: caller)
            )
        case .releaseUser:
            _ = try EmptyInput(body: request.body)
            return try encoded(
                try await backend.setHold(false, user: user, reason: nil, caller: caller)
            )
        default: return try encoded(try await backend.identities(of: user, caller: caller))
        }
    }

    private func requestID(_ request: ServerRequest) throws(ControlProblem) -> RequestID {
        guard let id = RequestID(request.match.values[0]) else {
            throw ControlProblem(.requestNotFound)
        }
        return id
    }
}

extension Dispatcher {
    private func notifications(
        _ request: ServerRequest,
        _ caller: Caller
    ) async throws(ControlProblem) -> ServerAnswer {
        guard let name = PathText.componentName(request.match.values[0]) else {
            throw ControlProblem(.unknownProvider)
        }
        let provider = ProviderName(name)
        guard request.match.route.operation == .takeNotification else {
            let code = request.match.values[1]
            return try encoded(
                try await backend.notificationStatus(code, provider: provider, caller: caller)
            )
        }
        let input = NotificationInput(body: request.body, fields: request.fields)
        return try encoded(
            try await backend.takeNotification(input, provider: provider, caller: caller)
        )
    }

    private func components(
        _ request: ServerRequest,
        _ caller: Caller
    )
        async throws(ControlProblem) -> ServerAnswer
    {
        let action: ComponentAction
        switch request.match.route.operation {
        case .listProviders: return try encoded(try await backend.providers(caller: caller))
        case .listTargets: return try encoded(try await backend.targets(caller: caller))
        case .checkProvider, .checkTarget: action = .check
        case .pauseProvider, .pauseTarget: action = .pause
        default: action = .resume
        }
        _ = try EmptyInput(body: request.body)
        let name = PathText.componentName(request.match.values[0])
        switch request.match.route.operation {
        case .checkProvider, .pauseProvider, .resumeProvider:
            guard let name else { throw ControlProblem(.unknownProvider) }
            return try encoded(
                try await backend.control(action, provider: ProviderName(name), caller: caller)
            )
        default:
            guard let name else { throw ControlProblem(.unknownTarget) }
            return try encoded(
                try await backend.control(action, target: TargetName(name), caller: caller)
            )
        }
    }

    private func holds(
        _ request: ServerRequest,
        _ caller: Caller
    ) async throws(ControlProblem) -> ServerAnswer {
        if request.match.route.operation == .listHolds {
            return try encoded(try await backend.holds(caller: caller))
        }
        let name = PathText.componentName(request.match.values[0])
        guard request.match.route.operation == .holdTarget else {
            _ = try EmptyInput(body: request.body)
            guard let name else { throw ControlProblem(.holdNotFound) }
            return try encoded(try await backend.liftHold(name, caller: caller))
        }
        guard let name else {
            throw ControlProblem(
                .malformedField,
                "a name has 1 to 64 letters, digits, '.', '_' and '-'"
            )
        }
        let input = try HoldInput(body: request.body)
        return try encoded(try await backend.placeHold(name, input, caller: caller))
    }

    private func ledger(
        _ request: ServerRequest,
        _ caller: Caller
    ) async throws(ControlProblem) -> ServerAnswer {
        switch request.match.route.operation {
        case .showLedger: return try encoded(try await backend.ledger(caller: caller))
        case .ledgerEntries:
            guard let from = Int(request.match.values[0]), from >= 0 else {
                throw ControlProblem(.malformedField, "an index is a number from 0")
            }
            return try encoded(try await backend.ledgerEntries(from: from, caller: caller))
        case .verifyLedger:
            _ = try EmptyInput(body: request.body)
            return try encoded(try await backend.verifyLedger(caller: caller))
        default:
            _ = try EmptyInput(body: request.body)
            return try encoded(try await backend.acceptRollback(caller: caller))
        }
    }

    private func daemon(
        _ request: ServerRequest,
        _ caller: Caller
    ) async throws(ControlProblem)
        -> ServerAnswer
    {
        switch request.match.route.operation {
        case .metrics:
            return ServerAnswer(
                status: 200,
                contentType: "application/openmetrics-text; version=1.0.0; charset=utf-8",
                body: Array(try await backend.metrics(caller: caller).utf8)
            )
        case .showVault: return try encoded(try await backend.vault(caller: caller))
        case .status: return try encoded(try await backend.status(caller: caller))
        default: break
        }
        if request.match.route.operation == .overrideGuard {
            let input = try OverrideInput(body: request.body)
            return try encoded(try await backend.overrideGuard(input, caller: caller))
        }
        _ = try EmptyInput(body: request.body)
        switch request.match.route.operation {
        case .reloadConfiguration: return try encoded(try await backend.reload(caller: caller))
        case .rotateVault:
            return try encoded(try await backend.rotateVault(caller: caller), status: 202)
        default:
            let isPaused = request.match.route.operation == .pauseIntake
            return try encoded(try await backend.setIntake(isPaused: isPaused, caller: caller))
        }
    }

    private func answer(_ request: WireRequest, status: Int) -> ServerAnswer {
        var writer = JSONWriter()
        request.write(to: &writer)
        return ServerAnswer(status: status, contentType: "application/json", body: writer.bytes)
    }

    private func answer(_ page: WireList<WireRequest>) -> ServerAnswer {
        var writer = JSONWriter()
        writer.object { writer in
            writer.name("items")
            writer.array(page.items) { writer, request in request.write(to: &writer) }
            writer.member("next_cursor", page.nextCursor)
        }
        return ServerAnswer(status: 200, contentType: "application/json", body: writer.bytes)
    }

    private func encoded(
        _ value: some Encodable,
        status: Int = 200
    ) throws(ControlProblem)
        -> ServerAnswer
    {
        do {
            let body = Array(try Self.encoder().encode(value))
            return ServerAnswer(status: status, contentType: "application/json", body: body)
        } catch {
            throw ControlProblem(.internal)
        }
    }

    /// One event in the format of server-sent events
    /// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
    static func frame(_ event: WireEvent) -> [UInt8]? {
        do {
            let data = try encoder().encode(event)
            let head = "id: \(event.sequence)\nevent: \(event.kind)\ndata: "
            return Array(head.utf8) + Array(data) + Array("\n\n".utf8)
        } catch {
            return nil
        }
    }

    private static func encoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
