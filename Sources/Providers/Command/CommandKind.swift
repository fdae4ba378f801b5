import Engine
package import Lifecycle
package import Settings

/// A program of the operator's own.
package struct CommandKind: Hashable {
    let program: String
    let arguments: [String]
    let canCheck: Bool
    let revokesWholeGrant: Bool
    let userActionURL: String
    let userActionText: String
}

extension CommandKind: ProviderKind {
    package static let name = "command"
    package static let summary = "a program of your own"
    package static let settings: [Setting] = [
        .provider(
            "program",
            .text(.path),
            .required(example: .text("/usr/local/lib/expunged/my-sso"))
        ) {
            "Program that calls the provider (docs/providers/command.md)."
        },
        .programArguments(.provider),
        .provider("can_check", .boolean, .defaultsTo(.boolean(false))) {
            "Whether the program can check a refresh token."
        },
        .provider("revokes_whole_grant", .boolean, .defaultsTo(.boolean(false))) {
            "Whether revoking one token ends all tokens of the user."
        },
        .provider(
            "user_action_url",
            .text(.url),
            .required(example: .text("https://sso.example.com/apps"))
        ) { "Page where users can remove the link, for receipts." },
        .provider(
            "user_action_text",
            .text(.sentence),
            .required(example: .text("Open the page and remove the app."))
        ) { "What the user does there, for receipts." },
    ]

    package init(_ section: SettingsSection, _ problems: inout SectionProblems) {
        program = section.requiredText("program")
        arguments = section.texts("arguments")
        canCheck = section.flag("can_check")
        revokesWholeGrant = section.flag("revokes_whole_grant")
        userActionURL = section.requiredText("user_action_url")
        userActionText = section.requiredText("user_action_text")
    }

    package var traits: ProviderTraits {
        ProviderTraits(
            canCheckRefreshToken: canCheck,
            refreshInterval: .seconds(86_400),
            livenessLifetime: canCheck ? .seconds(86_400) : .zero,
            revokesWholeGrant: revokesWholeGrant,
            // The program's contract: it says `revoked` only of what it knows to be cut.
            refusesUnknownTokens: true,
            userActionURL: userActionURL,
            userActionText: userActionText,
            isUserActionConfigured: true
        )
    }

    package func make(_ setup: ProviderSetup) throws -> any ConnectedProvider {
        try CommandProvider(
            self,
            name: setup.name,
            clientIDs: setup.clientIDs,
            timeout: setup.provider.connection.timeoutTotal
        )
    }
}
