# Completion of amemctl for bash. amemctl itself says what may stand at the cursor.
_amemctl() {
    local words=() word line prefix i
    # bash splits words at = and :.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i > 0)) && [[ $word == [=:] || ${COMP_WORDS[i - 1]} == [=:] ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
    done
    word=${words[${#words[@]} - 1]}
    prefix=${word%"${word##*[=:]}"}
    COMPREPLY=()
    while IFS= read -r line; do
        if [[ $line == :files ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do
                COMPREPLY+=("$line")
            done < <(compgen -f -- "${word#"$prefix"}")
            continue
        fi
        line=${line%%$'\t'*}
        [[ $line == *[:=] ]] && compopt -o nospace 2>/dev/null
        line=${line#"$prefix"}
        [[ $line == *[[:space:]\"\'\$\`\;\&\|\<\>\(\)\*\?\!\#\\]* ]] && printf -v line %q "$line"
        COMPREPLY+=("$line")
    done < <("${words[0]/#\~/$HOME}" complete -- "${words[@]}" 2>/dev/null)
}
complete -F _amemctl amemctl
