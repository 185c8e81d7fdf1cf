/** Shells for which there is a script. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/**
 * Each script asks gw itself, by `gw __complete`, so that it never lacks a flag of the installed version. The answer has a
 * line for each candidate (value, tab, description) and a last one that says which paths the shell adds.
 */
export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# bash completion of gw. Load it: source <(gw completion bash)
_gw() {
  local IFS=$'\\n' line
  local paths=:none
  COMPREPLY=()
  while read -r line; do
    case $line in
      :*) paths=$line ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(gw __complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  local current=\${COMP_WORDS[COMP_CWORD]}
  # bash replaces only what stands behind the last = of a word.
  if [[ \${COMP_WORDS[COMP_CWORD-1]} == = || $current == = ]]; then
    COMPREPLY=("\${COMPREPLY[@]#*=}")
    [[ $current == = ]] && current=
  fi
  case $paths in
    :files) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$current")) ;;
    :folders) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$current")) ;;
  esac
}
complete -F _gw gw
`,
  zsh: `#compdef gw
# zsh completion of gw. Load it: source <(gw completion zsh), after compinit.
_gw() {
  local -a values
  local line paths=:none
  while IFS= read -r line; do
    case $line in
      :*) paths=$line ;;
      *) values+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(gw __complete "\${(@)words[2,CURRENT]}" 2> /dev/null)
  (( \${#values} )) && _describe -V gw values
  case $paths in
    :files) _files ;;
    :folders) _files -/ ;;
  esac
}
if [[ \${funcstack[1]} == _gw ]]; then _gw "$@"; else compdef _gw gw; fi
`,
  fish: `# fish completion of gw. Load it: gw completion fish | source
function __gw_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (gw __complete $words[2..] 2> /dev/null)
    for line in $lines
        switch $line
            case ':files'
                __fish_complete_path (commandline -ct)
            case ':folders'
                __fish_complete_directories (commandline -ct)
            case ':*'
            case '*'
                echo $line
        end
    end
end
complete -c gw -f -k -a '(__gw_complete)'
`,
};
