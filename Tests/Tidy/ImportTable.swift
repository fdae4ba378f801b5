/// Which modules each target may import.
///
/// An adapter never imports another; each outside library has one or two homes, so that it can be
/// replaced or audited there.
enum ImportTable {
    /// Modules of the system and the standard library; `Foundation` as a whole has a rule of its
    /// own.
    static func anywhere(isTest: Bool) -> Set<String> {
        let system: Set = ["FoundationEssentials", "Glibc", "Synchronization"]
        return isTest ? system.union(["Testing"]) : system
    }

    private static let network: Set = ["NIOCore", "NIOPosix", "NIOHTTP1"]
    private static let adapters: Set = [
        "Storage", "Vault", "HTTP", "Programs", "Providers", "Stores", "Settings", "Systemd",
        "ControlServer",
    ]

    static let sources: [String: Set<String>] = [
        "Lifecycle": [],
        "Engine": ["Lifecycle", "DequeModule", "Logging"],
        "Ledger": ["Lifecycle", "Crypto"],
        "Storage": [
            "Engine", "Ledger", "Lifecycle", "CSQLiteGuard", "CLinux", "GRDB", "GRDBSQLite",
            "Logging",
        ],
        "Vault": ["Engine", "Lifecycle", "COpenSSL"],
        "HTTP": [
            "Engine", "Lifecycle", "Settings", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOPosix",
            "NIOSSL", "Logging",
        ],
        "Programs": [
            "HTTP", "Engine", "Lifecycle", "CLinux", "Subprocess", "SystemPackage",
        ],
        "Providers": [
            "HTTP", "Programs", "Settings", "Engine", "Lifecycle", "Crypto", "CryptoExtras",
            "NIOCore", "NIOHTTP1", "Logging",
        ],
        "Stores": [
            "HTTP", "Programs", "Settings", "Engine", "Lifecycle", "CLinux", "CPostgres",
            "CSQLiteGuard", "Crypto", "Dispatch", "GRDB", "GRDBSQLite", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL",
            "Logging",
        ],
        "Settings": ["CTOML", "Lifecycle"],
        "Systemd": ["Lifecycle", "CSystemd", "CLinux", "Logging"],
        "Control": ["Lifecycle"],
        "ControlServer": network.union([
            "Control", "Engine", "Lifecycle", "CLinux", "Logging", "ServiceLifecycle",
        ]),
        "ControlClient": ["Control", "Lifecycle", "AsyncHTTPClient", "NIOCore", "NIOHTTP1"],
        "Sandbox": network.union(["COpenSSL", "NIOSSL", "Logging"]),
        "Daemon": adapters.union([
            "NIOCore", "NIOPosix",
            "Lifecycle", "Engine", "Ledger", "Control", "CLinux", "CExecutor", "Logging",
            "ServiceLifecycle", "UnixSignals",
        ]),
        "expunged": ["CAllocator", "Daemon"],
        "expungectl": [
            "CLinux", "Control", "ControlClient", "Ledger", "Lifecycle", "ArgumentParser",
        ],
        "expunged-sandbox": [
            "Sandbox", "ArgumentParser", "AsyncHTTPClient", "NIOCore", "NIOHTTP1", "NIOSSL",
            "UnixSignals",
        ],
    ]

    /// A suite sees its own target, what that may see, and what the table of `Package.swift` adds.
    static let tests: [String: Set<String>] = {
        var table = sources.mapValues { $0 }
        for (target, modules) in sources { table[target] = modules.union([target]) }
        let additions: [String: Set<String>] = [
            "Ledger": ["Subprocess"],
            "Daemon": ["GRDB", "Sandbox", "NIOHTTP1", "NIOSSL"],
            "HTTP": ["Sandbox", "Vault", "NIOPosix"],
            "Stores": ["Sandbox", "NIOPosix"],
            "Providers": ["Sandbox", "Vault", "NIOPosix", "NIOSSL"],
            "Control": [
                "ControlServer", "ControlClient", "Logging", "NIOPosix", "Subprocess",
                "expungectl",
            ],
            "Sandbox": ["AsyncHTTPClient"],
            "Settings": ["Daemon", "HTTP", "Providers", "Stores"],
            "Simulation": ["Engine", "Lifecycle"],
            "EndToEnd": [
                "Lifecycle", "Sandbox", "Control", "ControlClient", "GRDB", "Subprocess",
            ],
            "Fuzz": ["Crypto", "Dispatch", "GRDB", "NIOCore", "NIOHTTP1"],
            "Tidy": [],
        ]
        return table.merging(additions) { $0.union($1) }
    }()
}
