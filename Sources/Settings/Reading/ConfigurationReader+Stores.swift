extension ConfigurationReader {
    mutating func redisTarget(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> RedisTargetConfiguration {
        let keys = section.texts("keys")
        let members = section.map("members")
        if keys.isEmpty && members.isEmpty {
            log.report(
                .missingKey,
                "keys",
                in: place,
                "a target of Redis needs keys or members, such as keys = [\"user:{user_id}\"]"
            )
        }
        if section.text("username") != nil && section.text("password_credential") == nil {
            log.report(
                .missingKey,
                "password_credential",
                in: place,
                "username says nothing without it"
            )
        }
        return RedisTargetConfiguration(
            place: redisPlace(section, at: place),
            caFile: section.text("ca_file"),
            username: section.text("username"),
            passwordCredential: section.text("password_credential"),
            database: section.count("database") ?? 0,
            keys: keys,
            members: members,
            timeout: section.duration("timeout")
        )
    }

    private mutating func redisPlace(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> RedisTargetConfiguration.Place {
        let isPlain = section.flag("allow_plain_tcp")
        switch (section.text("socket"), section.text("address")) {
        case (let socket?, nil): return .socket(socket)
        case (nil, let address?):
            guard let url = EndpointURL("https://\(address)") else { break }
            if isPlain && !url.isLoopback {
                log.report(
                    .contradiction,
                    "allow_plain_tcp",
                    in: place,
                    "only a loopback address may do without TLS"
                )
            }
            // The port that Redis registered (iana.org/assignments/service-names-port-numbers).
            return .host(url.host, port: url.port ?? 6379, isPlain: isPlain)
        case (_?, _?):
            log.report(.contradiction, "address", in: place, "the section has a socket already")
        case (nil, nil):
            log.report(
                .missingKey,
                "address",
                in: place,
                "give address = \"HOST:PORT\" or socket = \"/run/redis/redis-server.sock\""
            )
        }
        return .socket("")
    }

    func commandTarget(_ section: SettingsSection) -> CommandTargetConfiguration {
        CommandTargetConfiguration(
            program: section.text("program") ?? "",
            arguments: section.texts("arguments"),
            timeout: section.duration("timeout"),
            memoryMax: (section.count("memory_max_mib") ?? 0) << 20
        )
    }

    mutating func webhookTarget(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> WebhookTargetConfiguration {
        if let url = section.text("url").flatMap(EndpointURL.init), !url.isEncrypted {
            log.report(.malformed, "url", in: place, "user ids travel over https only")
        }
        return WebhookTargetConfiguration(
            url: section.text("url") ?? "",
            secretCredential: section.text("secret_credential") ?? "",
            caFile: section.text("ca_file"),
            allowsPrivateAddresses: section.flag("allow_private_addresses"),
            timeout: section.duration("timeout")
        )
    }

    mutating func s3Target(
        _ section: SettingsSection,
        at place: SectionPlace
    ) -> S3TargetConfiguration {
        let prefixes = section.texts("prefixes")
        let objects = section.texts("objects")
        if prefixes.isEmpty && objects.isEmpty {
            log.report(
                .missingKey,
                "prefixes",
                in: place,
                "a bucket needs prefixes or objects, such as prefixes = [\"users/{user_id}/\"]"
            )
        }
        if let url = section.text("endpoint").flatMap(EndpointURL.init), !url.isEncrypted {
            log.report(.malformed, "endpoint", in: place, "user ids travel over https only")
        }
        return S3TargetConfiguration(
            bucket: section.text("bucket") ?? "",
            endpoint: section.text("endpoint") ?? "",
            region: section.text("region") ?? "",
            urlStyle: section.choice("url_style") ?? .virtualHost,
            caFile: section.text("ca_file"),
            accessKeyID: section.text("access_key_id") ?? "",
            secretKeyCredential: section.text("secret_key_credential") ?? "",
            sessionTokenCredential: section.text("session_token_credential"),
            prefixes: prefixes,
            objects: objects,
            timeout: section.duration("timeout")
        )
    }
}
