// `qm completion`: prints a shell script that completes words by calling `qm complete`.
import { Argument, Command } from 'commander';

// Bash breaks words at = and :, so what stands before the last of them is not given again.
const BASH = `_qm() {
  local line="\${COMP_LINE:0:COMP_POINT}" current head candidate
  local -a typed
  read -ra typed <<< "$line"
  [[ "$line" == *[[:space:]] ]] && typed+=("")
  current="\${typed[\${#typed[@]}-1]}"
  head=""
  [[ "$current" == *[=:]* ]] && head="\${current%"\${current##*[=:]}"}"
  COMPREPLY=()
  while IFS= read -r candidate; do
    COMPREPLY+=("\${candidate#"$head"}")
  done < <(qm complete -- "\${typed[@]:1}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && "\${COMPREPLY[0]}" == *[=.] ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -F _qm qm
`;

const ZSH = `#compdef qm
_qm() {
  local -a words_after candidates open
  words_after=("\${(@)words[2,CURRENT]}")
  candidates=(\${(f)"$(qm complete -- "\${words_after[@]}" 2>/dev/null)"})
  open=(\${(M)candidates:#*[=.]})
  candidates=(\${candidates:#*[=.]})
  (( \${#open} )) && compadd -S '' -- "\${open[@]}"
  (( \${#candidates} )) && compadd -- "\${candidates[@]}"
}
if [ "$funcstack[1]" = "_qm" ]; then _qm; else compdef _qm qm; fi
`;

const FISH = `function __qm_complete
  set -l typed (commandline -opc) (commandline -ct)
  qm complete -- $typed[2..-1] 2>/dev/null
end
complete -c qm -f -a '(__qm_complete)'
`;

const SCRIPTS: Readonly<Record<string, string>> = { bash: BASH, zsh: ZSH, fish: FISH };

const INSTALL = `
Install:
  bash   qm completion bash > ~/.local/share/bash-completion/completions/qm
  zsh    qm completion zsh > "\${fpath[1]}/_qm"
  fish   qm completion fish > ~/.config/fish/completions/qm.fish

It completes commands, options, names of capabilities and their fields from what the last \`qm call\` has learnt, without the network.`;

export function completionCommand(): Command {
  return new Command('completion')
    .description('Print a completion script for a shell.')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', INSTALL)
    .action((shell: string) => void process.stdout.write(SCRIPTS[shell] as string));
}
