/**
 * What `branchlog completion SHELL` prints: a script for the shell, which asks `branchlog
 * --complete` with the words before the cursor, the last of them unfinished. Pure.
 */
import { basename } from "node:path";

/** Asks for completions; the words of the command line follow. */
export const completeOption = "--complete";

const bash = `# In ~/.bashrc: source <(branchlog completion bash)
_branchlog() {
  local value about
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    COMPREPLY+=("$(printf '%q' "$value")")
  done < <(branchlog ${completeOption} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _branchlog branchlog
`;

const zsh = `#compdef branchlog
# In ~/.zshrc, after compinit: source <(branchlog completion zsh)
_branchlog() {
  local -a found
  local value about
  while IFS=$'\\t' read -r value about; do
    found+=("\${value//:/\\\\:}\${about:+:$about}")
  done < <(branchlog ${completeOption} "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe branchlog found; else _default; fi
}
compdef _branchlog branchlog
`;

const fish = `# In ~/.config/fish/completions/branchlog.fish
function __branchlog_complete
  set -l before (commandline -opc)
  set -l current (commandline -ct)
  branchlog ${completeOption} $before[2..-1] "$current" 2>/dev/null
end
complete -c branchlog -a '(__branchlog_complete)'
`;

const powershell = `# In $PROFILE: branchlog completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName branchlog -ScriptBlock {
  param($word, $ast, $position)
  $words = @($ast.CommandElements | Select-Object -Skip 1 | ForEach-Object { "$_" })
  if ($word -eq '') { $words += '' }
  branchlog ${completeOption} @words 2>$null | ForEach-Object {
    $value, $about = $_ -split "\`t", 2
    if (-not $about) { $about = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
  }
}
`;

const scripts: Readonly<Record<string, string>> = { bash, zsh, fish, powershell };

export const shellNames: readonly string[] = Object.keys(scripts);

/**
 * Undefined for any other shell.
 * @param usual The path of the user's shell, for a command line that names none.
 */
export function completionScript(
  [name, ...others]: readonly string[],
  usual: string | undefined,
): string | undefined {
  const shell = name ?? usualName(usual);
  return others.length === 0 && Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
}

function usualName(path: string | undefined): string {
  const name = path === undefined ? "" : basename(path);
  return shellNames.includes(name) ? name : "bash";
}
