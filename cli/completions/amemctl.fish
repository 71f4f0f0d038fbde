# Completion of amemctl for fish. amemctl itself says what may stand at the cursor.
function __amemctl_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    for line in ($words[1] complete -- $words "$word" 2>/dev/null)
        if test "$line" = :files
            __fish_complete_path "$word"
        else
            echo $line
        end
    end
end
complete -c amemctl -f -a '(__amemctl_complete)'
