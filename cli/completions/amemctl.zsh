#compdef amemctl
# Completion of amemctl for zsh. amemctl itself says what may stand at the cursor.
_amemctl() {
    local -a lines values shown open
    local line value about files=
    lines=("${(@f)$("${(Q)words[1]/#\~/$HOME}" complete -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    for line in $lines; do
        if [[ $line == :files ]]; then
            files=1
            continue
        fi
        value=${line%%$'\t'*}
        about=${line#*$'\t'}
        if [[ $value == *[:=] ]]; then
            open+=("$value")
        else
            values+=("$value")
            shown+=("$value${about:+  -- $about}")
        fi
    done
    (( $#values )) && compadd -l -d shown -a values
    (( $#open )) && compadd -S '' -a open
    [[ -n $files ]] && _files
    return 0
}
if [[ ${funcstack[1]-} == _amemctl ]]; then
    _amemctl "$@"
else
    compdef _amemctl amemctl
fi
