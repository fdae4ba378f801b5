function __expungectl_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __expungectl_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __expungectl_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __expungectl_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __expungectl_parse_tokens -S
    set -l unparsed_tokens (__expungectl_tokens -pc)
    switch $unparsed_tokens[1]
    case 'expungectl'
        __expungectl_parse_subcommand 0 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'delete-account'
            __expungectl_parse_subcommand 1 'option=+' 'idempotency-key=' 'wait' 'timeout=' 'socket=' 'json' 'version' 'h/help'
        case 'revoke-tokens'
            __expungectl_parse_subcommand 1 'provider=+' 'option=+' 'idempotency-key=' 'wait' 'timeout=' 'socket=' 'json' 'version' 'h/help'
        case 'list'
            __expungectl_parse_subcommand 0 'state=' 'provider=' 'user=' 'limit=' 'cursor=' 'socket=' 'json' 'version' 'h/help'
        case 'show'
            __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
        case 'plan'
            __expungectl_parse_subcommand 1 'request=' 'socket=' 'json' 'version' 'h/help'
        case 'approve'
            __expungectl_parse_subcommand 1 'plan=' 'socket=' 'json' 'version' 'h/help'
        case 'cancel'
            __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
        case 'retry'
            __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
        case 'hold'
            __expungectl_parse_subcommand 1 'user=' 'store=' 'table=' 'where=+' 'name=' 'reason=' 'socket=' 'json' 'version' 'h/help'
        case 'release'
            __expungectl_parse_subcommand 1 'user=' 'hold=' 'socket=' 'json' 'version' 'h/help'
        case 'abandon'
            __expungectl_parse_subcommand 1 'reason=' 'provider=' 'socket=' 'json' 'version' 'h/help'
        case 'reauthorize'
            __expungectl_parse_subcommand 1 'provider=' 'client-id=' 'id-token-file=' 'raw-nonce-file=' 'code-file=' 'code-verifier-file=' 'redirect-uri=' 'socket=' 'json' 'version' 'h/help'
        case 'receipt'
            __expungectl_parse_subcommand 1 'html' 'language=' 'time-zone=' 'socket=' 'json' 'version' 'h/help'
        case 'wait'
            __expungectl_parse_subcommand -r 1 'timeout=' 'socket=' 'json' 'version' 'h/help'
        case 'events'
            __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
        case 'identities'
            __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
        case 'store-credential'
            __expungectl_parse_subcommand 2 'kind=' 'client-id=' 'subject=' 'secret-file=' 'code-verifier-file=' 'raw-nonce-file=' 'redirect-uri=' 'socket=' 'json' 'version' 'h/help'
        case 'forget'
            __expungectl_parse_subcommand 2 'socket=' 'json' 'version' 'h/help'
        case 'notification'
            __expungectl_parse_subcommand 1 'header=+' 'header-file=' 'socket=' 'json' 'version' 'h/help'
        case 'notification-status'
            __expungectl_parse_subcommand 2 'socket=' 'json' 'version' 'h/help'
        case 'status'
            __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'watch'
            __expungectl_parse_subcommand 0 'once' 'interval=' 'socket=' 'json' 'version' 'h/help'
        case 'report'
            __expungectl_parse_subcommand 0 'month=' 'html' 'csv' 'time-zone=' 'socket=' 'json' 'version' 'h/help'
        case 'doctor'
            __expungectl_parse_subcommand 0 'config=' 'json' 'version' 'h/help'
        case 'config'
            __expungectl_parse_subcommand 0 'non-default' 'socket=' 'json' 'version' 'h/help'
        case 'support-bundle'
            __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
        case 'providers'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            case 'pause'
                __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'resume'
                __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'check'
                __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            end
        case 'stores'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            case 'pause'
                __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'resume'
                __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'check'
                __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            case 'suggest'
                __expungectl_parse_subcommand 1 'user-table=' 'socket=' 'json' 'version' 'h/help'
            end
        case 'holds'
            __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'hosts'
            __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'intake'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'pause'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            case 'resume'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            end
        case 'guard'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'override'
                __expungectl_parse_subcommand 0 'count=' 'socket=' 'json' 'version' 'h/help'
            end
        case 'messages'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __expungectl_parse_subcommand 0 'waiting' 'before=' 'socket=' 'json' 'version' 'h/help'
            case 'redeliver'
                __expungectl_parse_subcommand 1 'socket=' 'json' 'version' 'h/help'
            end
        case 'vault'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'list'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            case 'rotate'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            end
        case 'ledger'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'status'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            case 'verify'
                __expungectl_parse_subcommand 0 'entries=' 'checkpoints=' 'key=' 'earlier' 'socket=' 'json' 'version' 'h/help'
            case 'export'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            case 'accept-rollback'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            end
        case 'replay'
            __expungectl_parse_subcommand 0 'version' 'h/help'
            switch $unparsed_tokens[1]
            case 'run'
                __expungectl_parse_subcommand 0 'since=' 'since-file=' 'store=' 'drill' 'copy=' 'restored-at=' 'socket=' 'json' 'version' 'h/help'
            case 'status'
                __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
            end
        case 'reload'
            __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'metrics'
            __expungectl_parse_subcommand 0 'socket=' 'json' 'version' 'h/help'
        case 'help'
            __expungectl_parse_subcommand -r 1 'version'
        end
    end
end

function __expungectl_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __expungectl_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __expungectl_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __expungectl_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__expungectl_tokens -p)
    if test -z "$(__expungectl_tokens -t)"
        set -l index (count (__expungectl_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'expungectl' -f
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'delete-account' -d 'Revoke a user\'s tokens at every provider, then erase the user\'s data.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'revoke-tokens' -d 'Revoke a user\'s tokens without erasing anything.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'list' -d 'List requests, newest first.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'show' -d 'Show one request: identities, verdicts, steps, calls and times.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'plan' -d 'Show what a deletion would do, with counts, without doing it.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'approve' -d 'Approve the plan of a request, as another person than its submitter.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'cancel' -d 'Stop a request before its purge.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'retry' -d 'Try again now, whatever the request waits for.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'hold' -d 'Stop a request, everything of a user, or the purge of a store, until released.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'release' -d 'Lift the hold on a request, a user or a store.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'abandon' -d 'Give up a revocation, a store whose key was not found, or the rechecks.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'reauthorize' -d 'Submit a fresh sign-in for a request that waits for one.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'receipt' -d 'Print the receipt of a completed request, as JSON or as a page.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'wait' -d 'Wait for the end of requests, and exit as --wait does.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'events' -d 'Print live changes until the service stops or Ctrl-C.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'identities' -d 'List a user\'s identities, never their secrets.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'store-credential' -d 'Seal a credential of a user into the vault.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'forget' -d 'Destroy an identity\'s credentials without revoking them.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'notification' -d 'Pass on a notification that a provider sent to your web server.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'notification-status' -d 'Show the text of the status page for a confirmation code.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'status' -d 'Show the state of the service.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'watch' -d 'Show the service, its requests, providers and stores live, until Ctrl-C.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'report' -d 'Report a month in numbers: requests, times, verdicts, what was kept and why.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'doctor' -d 'Check the configuration, what it names, and the machine.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'config' -d 'Print the configuration in force as TOML; secrets are names of credentials.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'support-bundle' -d 'Collect settings, status, metrics and journal for a problem report.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'providers' -d 'Show the providers, or pause, resume or check one.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'stores' -d 'Show the stores, or pause, resume or check one, or suggest its rules.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'holds' -d 'List the holds on stores and users, oldest first.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'hosts' -d 'List the hosts that share a state in PostgreSQL.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'intake' -d 'Stop or start accepting requests.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'guard' -d 'Open the guard against mass deletion.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'messages' -d 'Show the messages to subscribers and by mail, or deliver one again.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'vault' -d 'Show the vault\'s keys, or wrap all data keys under the active one.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'ledger' -d 'Show, verify or export the ledger, or accept an older state.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'replay' -d 'Repeat erasures in stores that were restored from a backup.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'reload' -d 'Read the configuration again; a bad one changes nothing.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'metrics' -d 'Print the metrics as Prometheus text.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account"' -l 'option' -d 'An option of the request: grace_s, reason or account_created_at.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account" idempotency-key' -l 'idempotency-key' -d 'The same key finds the same request again (default: a new one).' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account" wait' -l 'wait' -d 'Wait for the end of the request; exit with its status.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account" timeout' -l 'timeout' -d 'Seconds to wait at most, 1 to 86400.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl delete-account" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens"' -l 'provider' -d 'Only this provider; may be given more than once.' -rfka '(__expungectl_custom_completion ---completion revoke-tokens -- --provider (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens"' -l 'option' -d 'An option of the request: grace_s, reason or account_created_at.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens" idempotency-key' -l 'idempotency-key' -d 'The same key finds the same request again (default: a new one).' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens" wait' -l 'wait' -d 'Wait for the end of the request; exit with its status.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens" timeout' -l 'timeout' -d 'Seconds to wait at most, 1 to 86400.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl revoke-tokens" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" state' -l 'state' -d 'Only this state.' -rfka 'submitted accepted scheduled revoking purging verifying completed rejected cancelled parked'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" provider' -l 'provider' -d 'Only requests with an identity at this provider.' -rfka '(__expungectl_custom_completion ---completion list -- --provider (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" user' -l 'user' -d 'Only this user.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" limit' -l 'limit' -d 'The number of requests, 1 to 1000.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" cursor' -l 'cursor' -d 'The cursor of the previous page.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl show" -eq 1' -fka '(__expungectl_custom_completion ---completion show -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl show" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl show" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl show" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl show" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl plan" request' -l 'request' -d 'A request instead of a user: its plan and its changes.' -rfka '(__expungectl_custom_completion ---completion plan -- --request (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl plan" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl plan" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl plan" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl plan" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl approve" -eq 1' -fka '(__expungectl_custom_completion ---completion approve -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl approve" plan' -l 'plan' -d 'The hash of the plan that you read.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl approve" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl approve" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl approve" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl approve" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl cancel" -eq 1' -fka '(__expungectl_custom_completion ---completion cancel -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl cancel" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl cancel" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl cancel" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl cancel" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl retry" -eq 1' -fka '(__expungectl_custom_completion ---completion retry -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl retry" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl retry" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl retry" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl retry" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl hold" -eq 1' -fka '(__expungectl_custom_completion ---completion hold -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" user' -l 'user' -d 'A user (- to read the id) instead of a request: a legal hold.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" store' -l 'store' -d 'A store: nothing is purged from it; the rest continues.' -rfka '(__expungectl_custom_completion ---completion hold -- --store (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" table' -l 'table' -d 'With --store: only rows of this table that match every --where.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold"' -l 'where' -d 'Rows with this value; for one column, any of its values.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" name' -l 'name' -d 'With --store: the name of the hold (default: STORE[.TABLE]).' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" reason' -l 'reason' -d 'The reason; no personal data.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hold" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl release" -eq 1' -fka '(__expungectl_custom_completion ---completion release -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl release" user' -l 'user' -d 'A user (- to read the id) instead of a request.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl release" hold' -l 'hold' -d 'A hold on a store or user, by its name.' -rfka '(__expungectl_custom_completion ---completion release -- --hold (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl release" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl release" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl release" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl release" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl abandon" -eq 1' -fka '(__expungectl_custom_completion ---completion abandon -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl abandon" reason' -l 'reason' -d 'The reason, for the receipt: no personal data.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl abandon" provider' -l 'provider' -d 'Give up this provider only.' -rfka '(__expungectl_custom_completion ---completion abandon -- --provider (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl abandon" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl abandon" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl abandon" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl abandon" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl reauthorize" -eq 1' -fka '(__expungectl_custom_completion ---completion reauthorize -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" provider' -l 'provider' -d 'The provider where the user signed in.' -rfka '(__expungectl_custom_completion ---completion reauthorize -- --provider (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" client-id' -l 'client-id' -d 'The client id, if the provider has several.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" id-token-file' -l 'id-token-file' -d 'The id token.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" raw-nonce-file' -l 'raw-nonce-file' -d 'The nonce before hashing.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" code-file' -l 'code-file' -d 'The authorization code.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" code-verifier-file' -l 'code-verifier-file' -d 'The PKCE verifier of the code.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" redirect-uri' -l 'redirect-uri' -d 'The redirect URI of the authorize request.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reauthorize" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl receipt" -eq 1' -fka '(__expungectl_custom_completion ---completion receipt -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl receipt" html' -l 'html' -d 'Print one page of HTML without scripts.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl receipt" language' -l 'language' -d 'The language of the page.' -rfka 'en de fr es it'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl receipt" time-zone' -l 'time-zone' -d 'The time zone of the page, such as Europe/Berlin; default: the machine\'s.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl receipt" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl receipt" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl receipt" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl receipt" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl wait" -ge 1' -fka '(__expungectl_custom_completion ---completion wait -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl wait" timeout' -l 'timeout' -d 'Seconds to wait at most, 1 to 86400.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl wait" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl wait" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl wait" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl wait" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl events" -eq 1' -fka '(__expungectl_custom_completion ---completion events -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl events" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl events" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl events" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl events" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl identities" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl identities" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl identities" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl identities" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl store-credential" -eq 1' -fka '(__expungectl_custom_completion ---completion store-credential -- positional@1 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" kind' -l 'kind' -d 'The kind of the credential.' -rfka 'authorization_code refresh_token access_token id_token subject'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" client-id' -l 'client-id' -d 'The client id, if the provider has several.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" subject' -l 'subject' -d 'The provider\'s id of the user, if known.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" secret-file' -l 'secret-file' -d 'The credential.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" code-verifier-file' -l 'code-verifier-file' -d 'The PKCE verifier of a code.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" raw-nonce-file' -l 'raw-nonce-file' -d 'The nonce before hashing.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" redirect-uri' -l 'redirect-uri' -d 'The redirect URI of the authorize request.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl store-credential" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl forget" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl forget" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl forget" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl forget" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl notification" -eq 1' -fka '(__expungectl_custom_completion ---completion notification -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification"' -l 'header' -d 'A header field that came with it.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification" header-file' -l 'header-file' -d 'Header fields, one per line; authorization only here: it is a secret.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl notification-status" -eq 1' -fka '(__expungectl_custom_completion ---completion notification-status -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification-status" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification-status" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification-status" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl notification-status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl status" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl status" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl status" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl watch" once' -l 'once' -d 'Print the state once.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl watch" interval' -l 'interval' -d 'Seconds between two looks, 1 to 3600.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl watch" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl watch" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl watch" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl watch" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" month' -l 'month' -d 'The calendar month, such as 2026-11; default: the current one.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" html' -l 'html' -d 'Print one page of HTML with charts, for A4.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" csv' -l 'csv' -d 'Print lines of section, item, measure and value.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" time-zone' -l 'time-zone' -d 'The time zone of the month, such as Europe/Berlin; default: the machine\'s.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl report" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl doctor" config' -l 'config' -d 'The configuration.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl doctor" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl doctor" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl doctor" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl config" non-default' -l 'non-default' -d 'Only what differs from the default.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl config" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl config" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl config" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl config" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl support-bundle" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl support-bundle" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl support-bundle" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl support-bundle" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl providers" -eq 1' -fa 'list' -d 'Show every provider.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl providers" -eq 1' -fa 'pause' -d 'Start no new work there.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl providers" -eq 1' -fa 'resume' -d 'Start work there again.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl providers" -eq 1' -fa 'check' -d 'Ask it now whether it works.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers list" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers list" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers list" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl providers pause" -eq 1' -fka '(__expungectl_custom_completion ---completion providers pause -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers pause" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers pause" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers pause" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers pause" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl providers resume" -eq 1' -fka '(__expungectl_custom_completion ---completion providers resume -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers resume" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers resume" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers resume" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers resume" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl providers check" -eq 1' -fka '(__expungectl_custom_completion ---completion providers check -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers check" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers check" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers check" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl providers check" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores" -eq 1' -fa 'list' -d 'Show every store.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores" -eq 1' -fa 'pause' -d 'Start no new work there.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores" -eq 1' -fa 'resume' -d 'Start work there again.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores" -eq 1' -fa 'check' -d 'Check it now, and search for unmapped data.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores" -eq 1' -fa 'suggest' -d 'Write the rules of a store from its schema and sampled values.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores list" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores list" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores list" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores pause" -eq 1' -fka '(__expungectl_custom_completion ---completion stores pause -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores pause" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores pause" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores pause" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores pause" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores resume" -eq 1' -fka '(__expungectl_custom_completion ---completion stores resume -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores resume" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores resume" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores resume" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores resume" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores check" -eq 1' -fka '(__expungectl_custom_completion ---completion stores check -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores check" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores check" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores check" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores check" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl stores suggest" -eq 1' -fka '(__expungectl_custom_completion ---completion stores suggest -- positional@0 (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores suggest" user-table' -l 'user-table' -d 'The table of users and its column with the user id, such as users.id.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores suggest" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores suggest" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores suggest" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl stores suggest" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl holds" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl holds" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl holds" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl holds" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hosts" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hosts" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hosts" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl hosts" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl intake" -eq 1' -fa 'pause' -d 'Stop accepting requests.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl intake" -eq 1' -fa 'resume' -d 'Accept requests again.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake pause" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake pause" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake pause" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake pause" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake resume" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake resume" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake resume" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl intake resume" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl guard" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl guard" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl guard" -eq 1' -fa 'override' -d 'Open the guard once, within an hour, for a number of deletions.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl guard override" count' -l 'count' -d 'Deletions beyond the limit (default: as many as wait).' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl guard override" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl guard override" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl guard override" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl guard override" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl messages" -eq 1' -fa 'list' -d 'List the newest messages, 100 at a time.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl messages" -eq 1' -fa 'redeliver' -d 'Deliver a message again, under the same id.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages list" waiting' -l 'waiting' -d 'Only those that wait for an attempt.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages list" before' -l 'before' -d 'Only messages before this one.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages list" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages list" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages list" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages redeliver" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages redeliver" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages redeliver" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl messages redeliver" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl vault" -eq 1' -fa 'list' -d 'Show the keys, their users, and the progress of a rotation.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl vault" -eq 1' -fa 'rotate' -d 'Wrap every user\'s data key in the background, across restarts.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault list" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault list" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault list" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault list" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault rotate" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault rotate" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault rotate" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl vault rotate" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl ledger" -eq 1' -fa 'status' -d 'Show the ledger\'s key, size and last checkpoint.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl ledger" -eq 1' -fa 'verify' -d 'Compare every entry with every checkpoint.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl ledger" -eq 1' -fa 'export' -d 'Print every entry as it was hashed, one per line.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl ledger" -eq 1' -fa 'accept-rollback' -d 'Continue with a state that is older than its checkpoints, or was changed.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger status" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger status" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger status" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" entries' -l 'entries' -d 'A file that \'expungectl ledger export\' wrote.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" checkpoints' -l 'checkpoints' -d 'A checkpoint file.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" key' -l 'key' -d 'The public key, as \'expungectl ledger\' shows it.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" earlier' -l 'earlier' -d 'The checkpoint file is older than the export; later entries are not judged.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger verify" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger export" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger export" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger export" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger export" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger accept-rollback" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger accept-rollback" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger accept-rollback" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl ledger accept-rollback" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl replay" -eq 1' -fa 'run' -d 'Erase again, and wait for the end.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_positional "expungectl replay" -eq 1' -fa 'status' -d 'Show the current or last replay.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" since' -l 'since' -d 'The time of the backup, such as 2026-11-21T08:00:00Z.' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" since-file' -l 'since-file' -d 'A file with such times and stores.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" store' -l 'store' -d 'Only this store.' -rfka '(__expungectl_custom_completion ---completion replay run -- --store (count (__expungectl_tokens -pc)) (__expungectl_tokens -tC))'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" drill' -l 'drill' -d 'Only count; with --copy, erase in that copy.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" copy' -l 'copy' -d 'With --drill and --store: a copy of the store, as a path, database or bucket.' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" restored-at' -l 'restored-at' -d 'With --store: the end of the restoration; see expungectl(1).' -rfka ''
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay run" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay status" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay status" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay status" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl replay status" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reload" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reload" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reload" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl reload" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl metrics" socket' -l 'socket' -d 'The socket of the service (environment: EXPUNGED_SOCKET).' -rF
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl metrics" json' -l 'json' -d 'Print JSON, for programs.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl metrics" version' -l 'version' -d 'Show the version.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl metrics" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'expungectl' -n '__expungectl_should_offer_completions_for_flags_or_options "expungectl help" version' -l 'version' -d 'Show the version.'
