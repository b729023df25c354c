import { header, lines, type Shell } from './shell.ts';

const SCRIPT = String.raw`#compdef svc
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
export const zsh: Shell = {
  name: 'zsh',
  script: SCRIPT,
  read(args) {
    return {
      words: args.slice(0, -1),
      current: args.at(-1) ?? '',
      tell(answer) {
        const [kind = '', ...flags] = header(answer).split(' ');
        const head = [kind, answer.prefix.length, ...flags].join(' ');
        return lines([head, ...answer.candidates.map(([value, description]) => pair(value, description))]);
      },
    };
  },
};

// What _describe reads: a colon parts the two.
function pair(value: string, description: string): string {
  const escaped = value.replaceAll(/[\\:]/g, String.raw`\$&`);
  return description === '' ? escaped : `${escaped}:${description}`;
}
