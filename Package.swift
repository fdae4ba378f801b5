// swift-tools-version: 6.2
import PackageDescription

/// One list of settings for every target: warnings are errors, data races and implicit imports too.
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]

/// Lifecycle, Engine and their simulation are optimized in a debug build, too: the gate simulates
/// thousands of lives.
let optimized: [SwiftSetting] = [.unsafeFlags(["-O"], .when(configuration: .debug))]

/// Tests have no debug information: that saves a quarter of the time of compiling them.
let testSettings =
    settings + [.unsafeFlags(["-Xfrontend", "-gnone"], .when(configuration: .debug))]

extension Target.Dependency {
    static let argumentParser = Self.product(
        name: "ArgumentParser",
        package: "swift-argument-parser"
    )
    static let asyncHTTPClient = Self.product(name: "AsyncHTTPClient", package: "async-http-client")
    static let deque = Self.product(name: "DequeModule", package: "swift-collections")
    static let grdb = Self.product(name: "GRDB", package: "GRDB.swift")
    static let grdbSQLite = Self.product(name: "GRDBSQLite", package: "GRDB.swift")
    static let logging = Self.product(name: "Logging", package: "swift-log")
    static let nioCore = Self.product(name: "NIOCore", package: "swift-nio")
    static let nioPosix = Self.product(name: "NIOPosix", package: "swift-nio")
    static let nioHTTP1 = Self.product(name: "NIOHTTP1", package: "swift-nio")
    static let nioSSL = Self.product(name: "NIOSSL", package: "swift-nio-ssl")
    static let subprocess = Self.product(name: "Subprocess", package: "swift-subprocess")
    static let unixSignals = Self.product(name: "UnixSignals", package: "swift-service-lifecycle")
}

/// A library of ours.
///
/// Its dependencies are the rows of the import table (Tests/Tidy holds it).
func library(
    _ name: String,
    _ dependencies: [Target.Dependency],
    resources: [Resource] = []
) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        resources: resources,
        swiftSettings: settings + (["Lifecycle", "Engine"].contains(name) ? optimized : [])
    )
}

func program(
    _ name: String,
    _ dependencies: [Target.Dependency],
    _ linkerSettings: [LinkerSetting] = [],
    resources: [Resource] = []
) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        resources: resources,
        swiftSettings: settings,
        linkerSettings: linkerSettings
    )
}

/// libdispatch's monitor would wake an idle process every second; see CExecutor.h.
let withoutMonitor: [LinkerSetting] = [
    .unsafeFlags([
        "-Xlinker", "--wrap=_dispatch_workq_worker_register",
        "-Xlinker", "--wrap=_dispatch_workq_worker_unregister",
    ])
]

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: dependencies,
        path: "Tests/\(name)",
        swiftSettings: testSettings + (name == "Simulation" ? optimized : [])
    )
}

let libraries: [Target] = [
    library("Encoding", []),
    library("Cryptography", ["COpenSSL"]),
    library("Lifecycle", []),
    library("Engine", ["CExecutor", "Lifecycle", .deque]),
    library("Ledger", ["Cryptography", "Encoding", "Lifecycle"]),
    library("PostgreSQL", ["Lifecycle", "CLinux", "CPostgres"]),
    library(
        "Storage",
        [
            "Cryptography", "Encoding", "Engine", "Ledger", "Lifecycle", "PostgreSQL",
            "CSQLiteGuard", "CLinux", .grdb, .grdbSQLite,
        ]
    ),
    library("Vault", ["Cryptography", "Encoding", "Engine", "Lifecycle", "COpenSSL"]),
    library(
        "HTTP",
        [
            "Cryptography", "Encoding", "Engine", "Lifecycle", "Settings", .asyncHTTPClient,
            .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .logging,
        ]
    ),
    library("Programs", ["Encoding", "HTTP", "Engine", "Lifecycle", "CLinux", .subprocess]),
    library(
        "Providers",
        [
            "Cryptography", "Encoding", "HTTP", "Programs", "Settings", "Engine", "Lifecycle",
            .nioHTTP1,
        ]
    ),
    library(
        "Stores",
        [
            "Cryptography", "Encoding", "HTTP", "Programs", "Settings", "Engine", "Lifecycle",
            "CLinux", "PostgreSQL", "CMariaDB", "CSQLiteGuard", .grdb, .grdbSQLite, .nioCore,
            .nioHTTP1, .nioPosix, .nioSSL, .logging,
        ],
        resources: [.embedInCode("HTTP/presets.toml")]
    ),
    library(
        "Messages",
        [
            "Encoding", "HTTP", "Programs", "Settings", "Engine", "Lifecycle", .nioCore, .nioPosix,
            .nioHTTP1,
        ],
        resources: [.embedInCode("confirmations.txt")]
    ),
    library("Settings", ["CTOML", "Encoding", "Lifecycle"]),
    library("Systemd", ["Encoding", "Lifecycle", "CSystemd", "CLinux", .logging]),
    library("Control", ["Cryptography", "Encoding", "Lifecycle"]),
    library(
        "ControlServer",
        [
            "Encoding", "CLinux", "Control", "Lifecycle", .nioCore, .nioPosix, .nioHTTP1, .logging,
        ]
    ),
    library(
        "ControlClient",
        ["Encoding", "Control", "Lifecycle", .asyncHTTPClient, .nioCore, .nioHTTP1]
    ),
    library(
        "Sandbox",
        ["Cryptography", "Encoding", "COpenSSL", .nioCore, .nioPosix, .nioSSL, .nioHTTP1]
    ),
    library(
        "Daemon",
        [
            "Cryptography", "Encoding", "Lifecycle", "Engine", "Ledger", "PostgreSQL", "Storage",
            "Vault", "HTTP", "Providers", "Stores", "Messages", "Settings", "Systemd", "Control",
            "ControlServer", "CLinux", "CExecutor", .logging, .nioCore, .nioPosix, .unixSignals,
        ]
    ),
]

let programs: [Target] = [
    program("expunged", ["Daemon", "CAllocator"], withoutMonitor),
    program(
        "expungectl",
        ["Encoding", "CLinux", "Control", "ControlClient", "Ledger", "Lifecycle", .argumentParser],
        resources: [.embedInCode("Output/receipts.txt")]
    ),
    program(
        "expunged-sandbox",
        [
            "Encoding", "Sandbox", .argumentParser, .asyncHTTPClient, .nioCore, .nioHTTP1,
            .nioSSL, .unixSignals,
        ]
    ),
]

let shims: [Target] = [
    .systemLibrary(
        name: "CSystemd",
        pkgConfig: "libsystemd",
        providers: [.apt(["libsystemd-dev"])]
    ),
    .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
    .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(
        name: "CMariaDB",
        pkgConfig: "libmariadb",
        providers: [.apt(["libmariadb-dev"])]
    ),
    .target(
        name: "CAllocator",
        dependencies: ["CLinux"],
        linkerSettings: [.linkedLibrary("jemalloc")]
    ),
    .target(name: "CLinux"),
    .target(name: "CExecutor"),
    .target(name: "CSQLiteGuard", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "CTOML"),
]

let support: Target = .target(
    name: "TestSupport",
    dependencies: ["Encoding", "Ledger", "Sandbox"],
    path: "Tests/Support",
    swiftSettings: settings
)

let suites: [Target] = [
    tests("Lifecycle", ["Lifecycle"]),
    tests("Engine", ["Engine", "Lifecycle"]),
    tests("Cryptography", ["Cryptography", "Encoding"]),
    tests("Ledger", ["Ledger", "Lifecycle", "Vault", .subprocess, "TestSupport"]),
    tests(
        "Storage",
        [
            "Encoding", "Storage", "Engine", "Ledger", "Lifecycle", "PostgreSQL", "CSQLiteGuard",
            .grdb, .grdbSQLite, "TestSupport",
        ]
    ),
    tests("Vault", ["Encoding", "Vault", "Engine", "Lifecycle", "COpenSSL"]),
    tests(
        "HTTP",
        [
            "Encoding", "HTTP", "Sandbox", "Engine", "Lifecycle", "TestSupport", "Vault", .nioCore,
            .nioPosix, .logging,
        ]
    ),
    tests(
        "Providers",
        [
            "Cryptography", "Encoding", "HTTP", "Providers", "Sandbox", "Engine", "Lifecycle",
            "TestSupport", "Vault", .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .logging,
        ]
    ),
    tests(
        "Stores",
        [
            "Encoding", "Stores", "Daemon", "Settings", "HTTP", "Programs", "Sandbox", "Engine",
            "Lifecycle", "PostgreSQL", "CPostgres", "CMariaDB", "CSQLiteGuard", .grdb,
            .grdbSQLite, .nioCore, .nioPosix, .logging, "TestSupport",
        ]
    ),
    tests(
        "Settings",
        [
            "Daemon", "Encoding", "Settings", "Providers", "PostgreSQL", "Stores", "HTTP",
            "Lifecycle",
        ]
    ),
    tests("Systemd", ["Systemd", "Lifecycle", "CLinux", .logging]),
    tests(
        "Control",
        [
            "Cryptography", "Encoding", "Control", "ControlServer", "ControlClient", "Daemon",
            "Lifecycle", "expungectl", .logging, .nioCore, .nioPosix, .subprocess,
        ]
    ),
    tests(
        "Sandbox",
        [
            "Cryptography", "Encoding", "Sandbox", "TestSupport", .asyncHTTPClient, .nioHTTP1,
            .nioSSL, .nioCore,
        ]
    ),
    tests(
        "Daemon",
        [
            "Encoding", "Daemon", "Control", "Engine", "HTTP", "Ledger", "Lifecycle", "Messages",
            "Providers", "Sandbox", "Settings", "Storage", "Systemd", "Stores", "Vault", .grdb,
            .logging, .nioCore, .nioHTTP1, .nioPosix, .nioSSL,
        ]
    ),
    tests("Messages", ["Encoding", "Messages", "Lifecycle"]),
    tests("Simulation", ["Engine", "Lifecycle", "TestSupport"]),
    tests("Tidy", []),
]

/// `EXPUNGED_SUITE=Vault swift test` builds that suite alone: one target needs no other.
let suite = Context.environment["EXPUNGED_SUITE"]
let chosenSuites = suite.map { name in suites.filter { $0.name == "\(name)Tests" } } ?? suites

let package = Package(
    name: "expunged",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: libraries + programs + shims + [support] + chosenSuites,
    cxxLanguageStandard: .cxx17
)
