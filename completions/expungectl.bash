#!/bin/bash

__expungectl_cursor_index_in_current_word() {
    local remaining="${COMP_LINE}"

    local word
    for word in "${COMP_WORDS[@]::COMP_CWORD}"; do
        remaining="${remaining##*([[:space:]])"${word}"*([[:space:]])}"
    done

    local -ir index="$((COMP_POINT - ${#COMP_LINE} + ${#remaining}))"
    if [[ "${index}" -le 0 ]]; then
        printf 0
    else
        printf %s "${index}"
    fi
}

# positional arguments:
#
# - 1: the current (sub)command's count of positional arguments
#
# required variables:
#
# - repeating_flags: the repeating flags that the current (sub)command can accept
# - non_repeating_flags: the non-repeating flags that the current (sub)command can accept
# - repeating_options: the repeating options that the current (sub)command can accept
# - non_repeating_options: the non-repeating options that the current (sub)command can accept
# - positional_number: value ignored
# - unparsed_words: unparsed words from the current command line
#
# modified variables:
#
# - non_repeating_flags: remove flags for this (sub)command that are already on the command line
# - non_repeating_options: remove options for this (sub)command that are already on the command line
# - positional_number: set to the current positional number
# - unparsed_words: remove all flags, options, and option values for this (sub)command
__expungectl_offer_flags_options() {
    local -ir positional_count="${1}"
    positional_number=0

    local was_flag_option_terminator_seen=false
    local is_parsing_option_value=false

    local -ar unparsed_word_indices=("${!unparsed_words[@]}")
    local -i word_index
    for word_index in "${unparsed_word_indices[@]}"; do
        if "${is_parsing_option_value}"; then
            # This word is an option value:
            # Reset marker for next word iff not currently the last word
            [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]] && is_parsing_option_value=false
            unset "unparsed_words[${word_index}]"
            # Do not process this word as a flag or an option
            continue
        fi

        local word="${unparsed_words["${word_index}"]}"
        if ! "${was_flag_option_terminator_seen}"; then
            case "${word}" in
            --)
                unset "unparsed_words[${word_index}]"
                # by itself -- is a flag/option terminator, but if it is the last word, it is the start of a completion
                if [[ "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    was_flag_option_terminator_seen=true
                fi
                continue
                ;;
            -*)
                # ${word} is a flag or an option
                # If ${word} is an option, mark that the next word to be parsed is an option value
                local option
                for option in "${repeating_options[@]}" "${non_repeating_options[@]}"; do
                    [[ "${word}" = "${option}" ]] && is_parsing_option_value=true && break
                done

                # Remove ${word} from ${non_repeating_flags} or ${non_repeating_options} so it isn't offered again
                local not_found=true
                local -i index
                for index in "${!non_repeating_flags[@]}"; do
                    if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                        unset "non_repeating_flags[${index}]"
                        non_repeating_flags=("${non_repeating_flags[@]}")
                        not_found=false
                        break
                    fi
                done
                if "${not_found}"; then
                    for index in "${!non_repeating_flags[@]}"; do
                        if [[ "${non_repeating_flags[${index}]}" = "${word}" ]]; then
                            unset "non_repeating_flags[${index}]"
                            non_repeating_flags=("${non_repeating_flags[@]}")
                            break
                        fi
                    done
                fi
                unset "unparsed_words[${word_index}]"
                continue
                ;;
            esac
        fi

        # ${word} is neither a flag, nor an option, nor an option value
        if [[ "${positional_number}" -lt "${positional_count}" || "${positional_count}" -lt 0 ]]; then
            # ${word} is a positional
            ((positional_number++))
            unset "unparsed_words[${word_index}]"
        else
            if [[ -z "${word}" ]]; then
                # Could be completing a flag, option, or subcommand
                positional_number=-1
            else
                # ${word} is a subcommand or invalid, so stop processing this (sub)command
                positional_number=-2
            fi
            break
        fi
    done

    unparsed_words=("${unparsed_words[@]}")

    if\
        ! "${was_flag_option_terminator_seen}"\
        && ! "${is_parsing_option_value}"\
        && [[ ("${cur}" = -* && "${positional_number}" -ge 0) || "${positional_number}" -eq -1 ]]
    then
        COMPREPLY+=($(compgen -W "${repeating_flags[*]} ${non_repeating_flags[*]} ${repeating_options[*]} ${non_repeating_options[*]}" -- "${cur}"))
    fi
}

__expungectl_add_completions() {
    local completion
    while IFS='' read -r completion; do
        COMPREPLY+=("${completion}")
    done < <(IFS=$'\n' compgen "${@}" -- "${cur}")
}

__expungectl_custom_complete() {
    if [[ -n "${cur}" || -z ${COMP_WORDS[${COMP_CWORD}]} || "${COMP_LINE:${COMP_POINT}:1}" != ' ' ]]; then
        local -ar words=("${COMP_WORDS[@]}")
    else
        local -ar words=("${COMP_WORDS[@]::${COMP_CWORD}}" '' "${COMP_WORDS[@]:${COMP_CWORD}}")
    fi

    "${COMP_WORDS[0]}" "${@}" "${words[@]}"
}

_expungectl() {
    local state
    state="$(shopt -p;shopt -po)"
    trap "${state//$'\n'/;}" RETURN
    shopt -s extglob
    set +o history +o posix

    local -xr SAP_SHELL=bash
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(IFS='.';printf %s "${BASH_VERSINFO[*]}")"
    local -r SAP_SHELL_VERSION

    local -r cur="${2}"
    local -r prev="${3}"

    local -i positional_number
    local -a unparsed_words=("${COMP_WORDS[@]:1:${COMP_CWORD}}")

    local -a repeating_flags=()
    local -a non_repeating_flags=(--version -h --help)
    local -a repeating_options=()
    local -a non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    delete-account|revoke-tokens|list|show|plan|approve|cancel|retry|hold|release|abandon|reauthorize|receipt|wait|events|identities|store-credential|forget|notification|notification-status|status|watch|report|doctor|config|support-bundle|providers|stores|holds|hosts|intake|guard|messages|vault|ledger|replay|reload|metrics|help)
        # Offer subcommand argument completions
        "_expungectl_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'delete-account revoke-tokens list show plan approve cancel retry hold release abandon reauthorize receipt wait events identities store-credential forget notification notification-status status watch report doctor config support-bundle providers stores holds hosts intake guard messages vault ledger replay reload metrics help' -- "${cur}"))
        ;;
    esac
}

_expungectl_delete-account() {
    repeating_flags=()
    non_repeating_flags=(--wait --json --version -h --help)
    repeating_options=(--option)
    non_repeating_options=(--idempotency-key --timeout --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--option')
        return
        ;;
    '--idempotency-key')
        return
        ;;
    '--timeout')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_revoke-tokens() {
    repeating_flags=()
    non_repeating_flags=(--wait --json --version -h --help)
    repeating_options=(--provider --option)
    non_repeating_options=(--idempotency-key --timeout --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--provider')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion revoke-tokens -- --provider "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--option')
        return
        ;;
    '--idempotency-key')
        return
        ;;
    '--timeout')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--state --provider --user --limit --cursor --socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--state')
        __expungectl_add_completions -W 'submitted'$'\n''accepted'$'\n''scheduled'$'\n''revoking'$'\n''purging'$'\n''verifying'$'\n''completed'$'\n''rejected'$'\n''cancelled'$'\n''parked'
        return
        ;;
    '--provider')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion list -- --provider "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--user')
        return
        ;;
    '--limit')
        return
        ;;
    '--cursor')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_show() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion show -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_plan() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--request --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--request')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion plan -- --request "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_approve() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--plan --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--plan')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion approve -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_cancel() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion cancel -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_retry() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion retry -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_hold() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(--where)
    non_repeating_options=(--user --store --table --name --reason --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--store')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion hold -- --store "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--table')
        return
        ;;
    '--where')
        return
        ;;
    '--name')
        return
        ;;
    '--reason')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion hold -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_release() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--user --hold --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user')
        return
        ;;
    '--hold')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion release -- --hold "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion release -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_abandon() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--reason --provider --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--reason')
        return
        ;;
    '--provider')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion abandon -- --provider "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion abandon -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_reauthorize() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--provider --client-id --id-token-file --raw-nonce-file --code-file --code-verifier-file --redirect-uri --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--provider')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion reauthorize -- --provider "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--client-id')
        return
        ;;
    '--id-token-file')
        __expungectl_add_completions -f
        return
        ;;
    '--raw-nonce-file')
        __expungectl_add_completions -f
        return
        ;;
    '--code-file')
        __expungectl_add_completions -f
        return
        ;;
    '--code-verifier-file')
        __expungectl_add_completions -f
        return
        ;;
    '--redirect-uri')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion reauthorize -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_receipt() {
    repeating_flags=()
    non_repeating_flags=(--html --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--language --time-zone --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--language')
        __expungectl_add_completions -W 'en'$'\n''de'$'\n''fr'$'\n''es'$'\n''it'
        return
        ;;
    '--time-zone')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion receipt -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_wait() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--timeout --socket)
    __expungectl_offer_flags_options -1

    # Offer option value completions
    case "${prev}" in
    '--timeout')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    *)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion wait -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_events() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion events -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_identities() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_store-credential() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--kind --client-id --subject --secret-file --code-verifier-file --raw-nonce-file --redirect-uri --socket)
    __expungectl_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--kind')
        __expungectl_add_completions -W 'authorization_code'$'\n''refresh_token'$'\n''access_token'$'\n''id_token'$'\n''subject'
        return
        ;;
    '--client-id')
        return
        ;;
    '--subject')
        return
        ;;
    '--secret-file')
        __expungectl_add_completions -f
        return
        ;;
    '--code-verifier-file')
        __expungectl_add_completions -f
        return
        ;;
    '--raw-nonce-file')
        __expungectl_add_completions -f
        return
        ;;
    '--redirect-uri')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    2)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion store-credential -- positional@1 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_forget() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_notification() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=(--header)
    non_repeating_options=(--header-file --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--header')
        return
        ;;
    '--header-file')
        __expungectl_add_completions -f
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion notification -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_notification-status() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 2

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion notification-status -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_status() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_watch() {
    repeating_flags=()
    non_repeating_flags=(--once --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--interval --socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--interval')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_report() {
    repeating_flags=()
    non_repeating_flags=(--html --csv --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--month --time-zone --socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--month')
        return
        ;;
    '--time-zone')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_doctor() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--config)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--config')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_config() {
    repeating_flags=()
    non_repeating_flags=(--non-default --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_support-bundle() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_providers() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|pause|resume|check)
        # Offer subcommand argument completions
        "_expungectl_providers_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list pause resume check' -- "${cur}"))
        ;;
    esac
}

_expungectl_providers_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_providers_pause() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion providers pause -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_providers_resume() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion providers resume -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_providers_check() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion providers check -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_stores() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|pause|resume|check|suggest)
        # Offer subcommand argument completions
        "_expungectl_stores_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list pause resume check suggest' -- "${cur}"))
        ;;
    esac
}

_expungectl_stores_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_stores_pause() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion stores pause -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_stores_resume() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion stores resume -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_stores_check() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion stores check -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_stores_suggest() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--user-table --socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--user-table')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac

    # Offer positional completions
    case "${positional_number}" in
    1)
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion stores suggest -- positional@0 "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    esac
}

_expungectl_holds() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_hosts() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_intake() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    pause|resume)
        # Offer subcommand argument completions
        "_expungectl_intake_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'pause resume' -- "${cur}"))
        ;;
    esac
}

_expungectl_intake_pause() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_intake_resume() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_guard() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    override)
        # Offer subcommand argument completions
        "_expungectl_guard_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'override' -- "${cur}"))
        ;;
    esac
}

_expungectl_guard_override() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--count --socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--count')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_messages() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|redeliver)
        # Offer subcommand argument completions
        "_expungectl_messages_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list redeliver' -- "${cur}"))
        ;;
    esac
}

_expungectl_messages_list() {
    repeating_flags=()
    non_repeating_flags=(--waiting --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--before --socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--before')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_messages_redeliver() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 1

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_vault() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    list|rotate)
        # Offer subcommand argument completions
        "_expungectl_vault_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'list rotate' -- "${cur}"))
        ;;
    esac
}

_expungectl_vault_list() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_vault_rotate() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_ledger() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    status|verify|export|accept-rollback)
        # Offer subcommand argument completions
        "_expungectl_ledger_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'status verify export accept-rollback' -- "${cur}"))
        ;;
    esac
}

_expungectl_ledger_status() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_ledger_verify() {
    repeating_flags=()
    non_repeating_flags=(--earlier --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--entries --checkpoints --key --socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--entries')
        __expungectl_add_completions -f
        return
        ;;
    '--checkpoints')
        __expungectl_add_completions -f
        return
        ;;
    '--key')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_ledger_export() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_ledger_accept-rollback() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_replay() {
    repeating_flags=()
    non_repeating_flags=(--version -h --help)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options 0

    # Offer subcommand / subcommand argument completions
    local -r subcommand="${unparsed_words[0]}"
    unset 'unparsed_words[0]'
    unparsed_words=("${unparsed_words[@]}")
    case "${subcommand}" in
    run|status)
        # Offer subcommand argument completions
        "_expungectl_replay_${subcommand}"
        ;;
    *)
        # Offer subcommand completions
        COMPREPLY+=($(compgen -W 'run status' -- "${cur}"))
        ;;
    esac
}

_expungectl_replay_run() {
    repeating_flags=()
    non_repeating_flags=(--drill --json --version -h --help)
    repeating_options=()
    non_repeating_options=(--since --since-file --store --copy --restored-at --socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--since')
        return
        ;;
    '--since-file')
        __expungectl_add_completions -f
        return
        ;;
    '--store')
        __expungectl_add_completions -W "$(__expungectl_custom_complete ---completion replay run -- --store "${COMP_CWORD}" "$(__expungectl_cursor_index_in_current_word)")"
        return
        ;;
    '--copy')
        __expungectl_add_completions -f
        return
        ;;
    '--restored-at')
        return
        ;;
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_replay_status() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_reload() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_metrics() {
    repeating_flags=()
    non_repeating_flags=(--json --version -h --help)
    repeating_options=()
    non_repeating_options=(--socket)
    __expungectl_offer_flags_options 0

    # Offer option value completions
    case "${prev}" in
    '--socket')
        __expungectl_add_completions -f
        return
        ;;
    esac
}

_expungectl_help() {
    repeating_flags=()
    non_repeating_flags=(--version)
    repeating_options=()
    non_repeating_options=()
    __expungectl_offer_flags_options -1
}

complete -o filenames -F _expungectl expungectl
