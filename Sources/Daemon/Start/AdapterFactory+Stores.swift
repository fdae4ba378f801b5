import Engine
import HTTP
import Lifecycle
import Programs
import Settings
import Systemd
import Stores

extension AdapterFactory {
    /// A Redis server.
    ///
    /// - Throws: ``Stores/MalformedTemplate`` for a pattern that could reach another user, or what
    ///   the directory throws for a password that cannot be read.
    func makeRedis(
        _ redis: RedisTargetConfiguration,
        of target: TargetConfiguration
    ) throws -> any PurgeTarget {
        let name = target.name
        let address: RedisTargetPlan.Address =
            switch redis.place {
            case .socket(let path): .socket(path)
            case .host(let host, let port, let isPlain):
                .host(host, port: port, isPlain: isPlain)
            }
        var plan = RedisTargetPlan(name: name, address: address)
        plan.caFile = redis.caFile
        plan.username = redis.username
        plan.password = try redis.passwordCredential.map { try line($0, of: name) }
        plan.database = redis.database
        plan.timeout = redis.timeout
        plan.residualCopiesKept = target.residualCopiesKept
        plan.keys = try redis.keys.map { try UserPattern($0) }
        plan.members = try redis.members.sorted { $0.key < $1.key }.map { key, member in
            RedisTargetPlan.MemberRule(key: key, member: try UserPattern(member))
        }
        return RedisTarget(plan: plan, on: eventLoopGroup, clock: .system(wall: now))
    }

    /// A program of the operator's own.
    ///
    /// - Throws: ``DaemonError`` for a path that is not absolute.
    func makeCommand(
        _ command: CommandTargetConfiguration,
        named name: TargetName
    ) throws -> any PurgeTarget {
        let runner = ProgramRunner(
            program: command.program,
            arguments: command.arguments,
            timeout: command.timeout,
            memoryMax: command.memoryMax,
            clock: AnchoredClock()
        )
        guard let runner else {
            throw DaemonError(
                .target,
                ["cannot use target '\(name)': program must be an absolute path"]
            )
        }
        return DelegatedTarget(
            name: name,
            delegate: CommandDelegate(runner),
            clock: .system(wall: now),
            copy: command.copy
        )
    }

    /// A service of the operator's own.
    ///
    /// - Throws: ``DaemonError`` for a key that is none, ``HTTP/SetupError`` for a URL or a
    ///   certificate file that cannot be used.
    func makeWebhook(
        _ webhook: WebhookTargetConfiguration,
        named name: TargetName
    ) throws -> any PurgeTarget {
        guard let signature = WebhookSignature(try line(webhook.secretCredential, of: name)) else {
            throw DaemonError(
                .target,
                [
                    "cannot use target '\(name)': credential '\(webhook.secretCredential)' must be"
                        + " 24 to 64 bytes in base64"
                ]
            )
        }
        var settings = RemoteSettings(owner: .target(name), caFile: webhook.caFile)
        settings.allowsPrivateAddresses = webhook.allowsPrivateAddresses
        settings.timeoutTotal = webhook.timeout
        return DelegatedTarget(
            name: name,
            delegate: try WebhookDelegate(
                url: webhook.url,
                settings,
                signature: signature,
                on: eventLoopGroup,
                now: now,
                logger: logger
            ),
            clock: .system(wall: now),
            copy: webhook.copy
        )
    }

    /// A bucket.
    ///
    /// - Throws: ``Stores/MalformedTemplate`` for one that could reach another user, or what the
    ///   directory throws for keys that cannot be read.
    func makeS3(_ s3: S3TargetConfiguration, named name: TargetName) throws -> any PurgeTarget {
        let templates =
            try s3.prefixes.map { try KeyTemplate($0, isPrefix: true) }
            + s3.objects.map { try KeyTemplate($0, isPrefix: false) }
        let keys = S3Signer.Keys(
            accessKeyID: s3.accessKeyID,
            secretKey: try line(s3.secretKeyCredential, of: name),
            sessionToken: try s3.sessionTokenCredential.map { try line($0, of: name) }
        )
        var plan = S3TargetPlan(
            name: name,
            bucket: s3.bucket,
            endpoint: s3.endpoint,
            isPathStyle: s3.urlStyle == .path,
            signer: S3Signer(keys: keys, region: s3.region),
            templates: templates
        )
        plan.remote.caFile = s3.caFile
        plan.remote.timeoutTotal = s3.timeout
        return try S3Target(
            plan: plan,
            on: eventLoopGroup,
            clock: .system(wall: now),
            logger: logger
        )
    }

    /// Reads a secret of one line, whose end an editor may have added.
    ///
    /// - Throws: ``DaemonError`` without a directory, or what it throws.
    private func line(_ credential: String, of name: TargetName) throws -> Secret {
        guard let credentials else {
            throw DaemonError(
                .target,
                ["cannot use target '\(name)': there is no credentials directory"]
            )
        }
        // The copy is made inside: the lent array is overwritten together with its owner.
        return try credentials.read(credential).withBytes { bytes in
            var line = bytes[...]
            while let last = line.last, [0x0a, 0x0d].contains(last) { line.removeLast() }
            return Secret(Array(line))
        }
    }
}
