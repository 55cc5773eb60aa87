/**
 * The output of `branchlog completion SHELL`: a script for the shell, which asks `branchlog
 * --complete` with the words before the cursor, the last of them unfinished. Pure.
 */
import { basename } from "node:path";

/** Asks for completions; the words of the command line follow. */
export const completeOption = "--complete";

const bash = `# In ~/.bashrc: source <(branchlog completion bash)
_branchlog() {
  local rest=\${COMP_LINE:0:COMP_POINT} before word typed mark value about quote= at
  local -a words=()
  # Bash splits words at the marks of COMP_WORDBREAKS, too: they are put together again.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    before=\${rest%%[![:space:]]*} word=\${COMP_WORDS[at]}
    rest=\${rest#"$before"}
    # A word ends at the cursor.
    [[ $word == "$rest"* ]] && word=$rest
    rest=\${rest#"$word"}
    if [[ $at -gt 0 && -z $before ]]; then words[-1]+=$word; else words+=("$word"); fi
  done
  typed=\${words[-1]}
  for at in "\${!words[@]}"; do
    word=\${words[at]} quote=
    case $word in
      [\\'\\"]*) quote=\${word:0:1} word=\${word:1} word=\${word%"$quote"} ;;
      *) word=\${word//\\\\/} ;;
    esac
    words[at]=$word
  done
  # What comes before the last of these marks stays as it is; of @, also the mark.
  before=
  for ((at = 0; at < \${#typed}; at++)); do
    mark=\${typed:at:1}
    if [[ -n $quote ]]; then break
    elif [[ $mark == \\\\ ]]; then at=$((at + 1))
    elif [[ $mark == @ ]]; then before=\${typed:0:at}
    elif [[ $COMP_WORDBREAKS == *"$mark"* ]]; then before=\${typed:0:at+1}
    fi
  done
  before=\${before//\\\\/}
  COMPREPLY=()
  while IFS=$'\\t' read -r value about; do
    [[ $value == "$before"* ]] || continue
    value=\${value#"$before"}
    case $quote in
      \\') value=\${value//\\'/\\'\\\\\\'\\'} ;;
      # Bash does not close these quotes behind such a value.
      \\") [[ $value == *[\\"\\\\\\$\\\`]* ]] && continue ;;
      *) value=$(printf '%q' "$value") ;;
    esac
    COMPREPLY+=("$value")
  done < <(branchlog ${completeOption} "\${words[@]:1}" 2>/dev/null)
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
  done < <(branchlog ${completeOption} "\${(@Q)words[2,CURRENT-1]}" "\${(Q)PREFIX}" 2>/dev/null)
  if (( ! $#found )); then _default; return; fi
  _describe branchlog found -M 'm:{[:lower:][:upper:]}={[:upper:][:lower:]}'
}
compdef _branchlog branchlog
`;

const fish = `# In ~/.config/fish/completions/branchlog.fish
function __branchlog_complete
  set -l before (commandline -opc)
  set -l typed (commandline -ct)
  # A quote may still be open.
  set -l current (string unescape -- "$typed"; or string replace -r '^.' '' -- "$typed")
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
