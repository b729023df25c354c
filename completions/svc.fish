# Completion of svc for fish, as 'svc completion fish' prints it.

# Asks the tool about the line up to the cursor, and keeps the answer for the rule that comes next.
function __svc_ask
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -g __svc_line (commandline -cp)
    set -g __svc_words (command svc __complete fish $before "$current" </dev/null 2>/dev/null)
    set -g __svc_kind words
    if set -q __svc_words[1]
        set -g __svc_kind $__svc_words[1]
        set -e __svc_words[1]
    end
end

function __svc_wants_words
    __svc_ask
    test "$__svc_kind" = words
end

function __svc_wants_paths
    test "$__svc_line" = (commandline -cp | string collect); or __svc_ask
    test "$__svc_kind" != words
end

complete -c svc -e
complete -c svc -f
complete -c svc -n __svc_wants_words -a '$__svc_words'
complete -c svc -n __svc_wants_paths -F
