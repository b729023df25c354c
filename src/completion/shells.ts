import { bash, described, header, lines, type Shell, unquote } from './bash.ts';

const ZSH_SCRIPT = String.raw`#compdef svc
# Completion of svc for zsh, as 'svc completion zsh' prints it.

_svc() {
  local how
  local -a answer head
  # (Q) takes quotes away and evaluates nothing.
  answer=("${'$'}{(@f)$(command svc __complete zsh "${'$'}{(@Q)words[2,CURRENT-1]}" "${'$'}{(Q)PREFIX}" </dev/null 2>/dev/null)}")
  head=("${'$'}{(@s: :)answer[1]}")
  shift answer
  [[ $head[2] == <1-> ]] && compset -p $head[2]
  case $head[1] in
    files) _files ;;
    directories) _files -/ ;;
    words)
      (( $#answer )) || return 1
      if [[ $head[3] == nospace ]]; then
        _describe -t values svc answer -S ''
      else
        _describe -t values svc answer
      fi
      ;;
    *) return 1 ;;
  esac
}

if [[ $funcstack[1] == _svc ]]; then
  _svc "$@"
else
  compdef _svc svc
fi
`;

/** zsh with its completion system (compinit). */
const zsh: Shell = {
  name: 'zsh',
  script: ZSH_SCRIPT,
  read(args) {
    return {
      words: args.slice(0, -1),
      current: args.at(-1) ?? '',
      print(answer) {
        const [kind = '', ...flags] = header(answer).split(' ');
        const head = [kind, answer.prefix.length, ...flags].join(' ');
        return lines([head, ...answer.candidates.map(([value, description]) => pair(value, description))]);
      },
    };
  },
};

const FISH_SCRIPT = String.raw`# Completion of svc for fish, as 'svc completion fish' prints it.

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
`;

/** fish 3.4 and later. Completes directories as files: fish has no word for them alone. */
const fish: Shell = {
  name: 'fish',
  script: FISH_SCRIPT,
  read(args) {
    return {
      words: args.slice(0, -1),
      // The word at the cursor comes with its quotes.
      current: unquote(args.at(-1) ?? '').text,
      print({ kind, prefix, candidates }) {
        return lines([kind, ...candidates.map(([value, description]) => described(prefix + value, description))]);
      },
    };
  },
};

// Windows PowerShell mangles arguments that are empty or hold quotes, so the words travel as one Base64 text.
const POWERSHELL_SCRIPT = String.raw`# Completion of svc for PowerShell, as 'svc completion powershell' prints it.

Register-ArgumentCompleter -Native -CommandName 'svc' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $svc = Get-Command -Name 'svc' -CommandType Application, ExternalScript -ErrorAction SilentlyContinue |
        Select-Object -First 1
    if (-not $svc) { return }
    $words = @()
    $current = ''
    foreach ($element in ($commandAst.CommandElements | Select-Object -Skip 1)) {
        $extent = $element.Extent
        if ($extent.StartOffset -ge $cursorPosition) { break }
        if ($extent.EndOffset -ge $cursorPosition) {
            $current = $extent.Text.Substring(0, $cursorPosition - $extent.StartOffset)
        } elseif ($element -is [System.Management.Automation.Language.StringConstantExpressionAst]) {
            $words += $element.Value
        } else {
            $words += $extent.Text
        }
    }
    $text = (@("$wordToComplete", $current) + $words) -join [char]0
    $typed = [Convert]::ToBase64String([Text.Encoding]::UTF8.GetBytes($text))
    $encoding = [Console]::OutputEncoding
    try {
        [Console]::OutputEncoding = [Text.Encoding]::UTF8
        $answer = @(& $svc __complete powershell $typed 2>$null)
    } finally {
        [Console]::OutputEncoding = $encoding
    }
    foreach ($line in $answer) {
        $insert, $shown, $description = $line -split "${'`'}t", 3
        if (-not $description) { $description = $shown }
        [System.Management.Automation.CompletionResult]::new($insert, $shown, 'ParameterValue', $description)
    }
}
`;

/** Windows PowerShell 5.1 and PowerShell 7. Where nothing is answered it completes files by itself. */
const powershell: Shell = {
  name: 'powershell',
  script: POWERSHELL_SCRIPT,
  read([typed = '']) {
    const [word = '', raw = '', ...words] = Buffer.from(typed, 'base64').toString('utf8').split('\0');
    const current = raw.replaceAll(/^['"]|['"]$/g, '');
    const wordText = word.replaceAll(/^['"]|['"]$/g, '');
    // Of `id,sta` PowerShell replaces only what follows the comma.
    const head = current.endsWith(wordText) ? current.slice(0, current.length - wordText.length) : '';
    return {
      words,
      current,
      print({ prefix, candidates }) {
        const rows = candidates.map(([value, description]) => {
          const whole = prefix + value;
          const part = whole.startsWith(head) ? whole.slice(head.length) : whole;
          return [quoted(part), value, description].join('\t');
        });
        return lines(rows);
      },
    };
  },
};

export const SHELLS: readonly Shell[] = [bash, zsh, fish, powershell];

export const SHELL_NAMES = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type ShellName = (typeof SHELL_NAMES)[number];

export function shellNamed(name: string): Shell | undefined {
  return SHELLS.find((shell) => shell.name === name);
}

// What _describe reads: a colon parts the two.
function pair(value: string, description: string): string {
  const escaped = value.replaceAll(/[\\:]/g, String.raw`\$&`);
  return description === '' ? escaped : `${escaped}:${description}`;
}

// Single quotes keep everything as it is; a quote inside is doubled, the typographic ones too.
function quoted(text: string): string {
  if (/^[\p{L}\p{N}_+=:./\\-]+$/u.test(text)) return text;
  return `'${text.replaceAll(/['‘’‚‛]/g, '$&$&')}'`;
}
