/// Which modules each module may import.
///
/// The adapters of providers, stores, messages and the state never import each other. Each outside
/// library has few homes, so that it can be replaced or audited there.
enum ImportTable {
    /// Modules of the system and the standard library; `Foundation` as a whole has a rule of its
    /// own.
    static func anywhere(isTest: Bool) -> Set<String> {
        let system: Set = ["FoundationEssentials", "Glibc", "Synchronization"]
        return isTest ? system.union(["Testing", "TestSupport"]) : system
    }

    private static let network: Set = ["NIOCore", "NIOPosix", "NIOHTTP1"]
    private static let adapters: Set = [
        "Storage", "Vault", "HTTP", "Providers", "Stores", "Messages", "Settings", "Systemd",
        "ControlServer",
    ]

    static let sources: [String: Set<String>] = [
        "Encoding": [],
        "Cryptography": ["COpenSSL"],
        "Lifecycle": [],
        "Engine": ["CExecutor", "Lifecycle", "DequeModule"],
        "Ledger": ["Encoding", "Lifecycle", "Cryptography"],
        "Storage": [
            "Cryptography", "Encoding", "Engine", "Ledger", "Lifecycle", "PostgreSQL",
            "CSQLiteGuard", "CLinux", "Dispatch", "GRDB", "GRDBSQLite",
        ],
        "PostgreSQL": ["Lifecycle", "CLinux", "CPostgres"],
        "Vault": ["Cryptography", "Encoding", "Engine", "Lifecycle", "COpenSSL"],
        "HTTP": [
            "Cryptography", "Encoding", "Engine", "Lifecycle", "Settings", "AsyncHTTPClient",
            "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "Logging",
        ],
        "Programs": [
            "Encoding", "HTTP", "Engine", "Lifecycle", "CLinux", "Subprocess", "SystemPackage",
        ],
        "Providers": [
            "Encoding", "HTTP", "Programs", "Settings", "Engine", "Lifecycle", "Cryptography",
            "NIOHTTP1",
        ],
        "Stores": [
            "Encoding", "HTTP", "Programs", "Settings", "Engine", "Lifecycle", "CLinux",
            "PostgreSQL", "CMariaDB", "CSQLiteGuard", "Cryptography", "Dispatch", "GRDB",
            "GRDBSQLite", "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL",
            "Logging",
        ],
        "Messages": [
            "Encoding", "HTTP", "Programs", "Settings", "Engine", "Lifecycle", "NIOCore",
            "NIOPosix", "NIOHTTP1",
        ],
        "Settings": ["CTOML", "Encoding", "Lifecycle"],
        "Systemd": ["Encoding", "Lifecycle", "CSystemd", "CLinux", "Logging"],
        "Control": ["Encoding", "Lifecycle", "Cryptography"],
        "ControlServer": network.union([
            "Encoding", "Control", "Lifecycle", "CLinux", "Logging",
        ]),
        "ControlClient": [
            "Encoding", "Control", "Lifecycle", "AsyncHTTPClient", "NIOCore", "NIOHTTP1",
        ],
        "Sandbox": network.union(["Cryptography", "Encoding", "COpenSSL", "NIOSSL"]),
        "Daemon": adapters.union([
            "Cryptography", "Encoding", "NIOCore", "NIOPosix", "Lifecycle", "Engine", "Ledger",
            "Control", "CLinux", "CExecutor", "Logging", "UnixSignals", "PostgreSQL",
        ]),
        "expunged": ["CAllocator", "Daemon"],
        "expungectl": [
            "Encoding", "CLinux", "Control", "ControlClient", "Ledger", "Lifecycle",
            "ArgumentParser",
        ],
        "expunged-sandbox": [
            "Encoding", "Sandbox", "ArgumentParser", "AsyncHTTPClient", "NIOCore", "NIOHTTP1",
            "NIOSSL", "UnixSignals",
        ],
    ]

    /// A suite sees its own module, what that may see, and what the table of `Package.swift` adds.
    static let tests: [String: Set<String>] = {
        var table = sources.mapValues { $0 }
        for (target, modules) in sources { table[target] = modules.union([target]) }
        let additions: [String: Set<String>] = [
            "Cryptography": ["Encoding"],
            "Ledger": ["Subprocess", "Vault"],
            "Daemon": ["GRDB", "Sandbox", "NIOHTTP1", "NIOSSL"],
            "HTTP": ["Sandbox", "Vault"],
            "Stores": ["CPostgres", "Daemon", "Sandbox"],
            "Providers": ["Logging", "NIOCore", "Sandbox", "Vault", "NIOPosix", "NIOSSL"],
            "Control": [
                "ControlServer", "ControlClient", "Daemon", "Logging", "NIOCore", "NIOPosix",
                "Subprocess", "expungectl",
            ],
            "Sandbox": ["AsyncHTTPClient"],
            "Settings": ["Daemon", "HTTP", "PostgreSQL", "Providers", "Stores"],
            "Simulation": ["Engine", "Lifecycle"],
            "Support": ["Encoding", "Ledger", "Sandbox"],
            "Fuzz": ["Dispatch", "GRDB", "NIOCore", "NIOHTTP1"],
            "Tidy": [],
        ]
        return table.merging(additions) { $0.union($1) }
    }()
}
