/** What people type out of habit with gh, stripe, aws and kubectl, and what to type instead. */
export interface Habits {
  /**
   * The words typed after `svc`, the words to type instead, and why if that is not plain. Words of a group stand before
   * an unknown word. An empty command has no counterpart.
   */
  readonly commands?: readonly (readonly [typed: string, command: string, why?: string])[];
  /**
   * Options of other tools, separated by blanks, and those of svc for the same purpose, or an argument such as `<dir>`.
   * The first that the command has, and that takes the typed value, is proposed. An option without a counterpart has a
   * reason only.
   */
  readonly options?: readonly (readonly [typed: string, options: readonly string[], why?: string])[];
  /** Commands to which people give one word too many, and where that word belongs. */
  readonly extraWords?: readonly (readonly [command: string, instead: string, why?: string])[];
  /** For an option, each of its choices with the words of other tools for it, separated by blanks. */
  readonly choices?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

/** Joins the habits of features. */
export function joinHabits(all: readonly Habits[]): Required<Habits> {
  return {
    commands: all.flatMap(({ commands = [] }) => commands),
    options: all.flatMap(({ options = [] }) => options),
    extraWords: all.flatMap(({ extraWords = [] }) => extraWords),
    choices: Object.assign({}, ...all.map(({ choices }) => choices)) as Required<Habits>['choices'],
  };
}

/** Habits about options that many commands have. */
export const COMMON_HABITS: Habits = {
  options: [
    ['--json', ['--output json', '--fields']],
    ['--ndjson --no-headers', ['--output jsonl']],
    ['--format --out-format', ['--output']],
    ['--query --template --jsonpath --go-template --filter', ['--jq']],
    ['--sort --sort-by', ['--jq'], "Such as -o json --jq 'sort_by(.created_at)'."],
    ['--select --columns', ['--fields']],
    ['--no-color --no-colour', ['--color never']],
    ['-v', ['--debug'], "To show the version: 'svc --version'."],
    ['--verbose --log-level --trace', ['--debug']],
    ['--silent', ['--quiet']],
    ['--from --after --start-time --start-date --newer-than', ['--since']],
    ['--before --end-time --end-date', ['--until']],
    ['--set', ['--at']],
    ['--watch -w', ['--follow']],
    ['--tail', ['--last', '--limit']],
    ['--max-items --max-results --count', ['--limit', '--max']],
    ['-l -L', ['--limit']],
    ['--per-page', ['--page-size']],
    ['--page --starting-token --cursor --starting-after', ['--start']],
    ['--region --endpoint --endpoint-url --api-base --url --server', ['--base-url']],
    ['--context --account --project-name --namespace', ['--profile']],
    ['-A --all-profiles --profiles-all', ['--profiles']],
    ['--live', [], 'The tenant of the key decides whether it is the live service.'],
    ['--test --local', ['--sandbox']],
    ['--plan --what-if', ['--dry-run']],
    ['--assume-yes --auto-approve --no-confirm', ['--yes']],
    ['--force', ['--confirm', '--yes']],
    ['--no-interactive --non-interactive', ['--no-input']],
    ['--out --dir --directory', ['--out-dir', '<dir>']],
    ['--output-file --outfile', ['--out']],
    ['-f', ['--set', '--force', '--file']],
    ['--filename', ['--file', '<file>', '--out']],
    ['--cli-input-json --input', ['--file']],
    ['--body --data -d', ['--file', '--set']],
    ['--field -F', ['--set', '--fields']],
    ['--param --params', ['--query']],
    ['-H --header', [], 'Headers cannot be set; svc sends those that the service needs.'],
    ['-k --insecure --no-verify-ssl --insecure-skip-tls-verify', [], 'TLS checks cannot be turned off.'],
    ['--wait-timeout --cli-read-timeout', ['--timeout']],
  ],
  choices: {
    '--output': {
      table: 'text pretty',
      csv: 'tsv',
      jsonl: 'ndjson',
      yaml: 'yml',
      '--fields': 'name custom-columns',
      '--jq': 'jsonpath go-template',
    },
    '--time': { utc: 'gmt iso zulu', relative: 'ago' },
    '--color': { always: 'on true yes', never: 'off false no' },
  },
};

/** Words for the same, of which a group has one: another of them is answered with it. */
export const SAME_WORDS: readonly (readonly string[])[] = [
  ['list', 'ls'],
  ['show', 'get', 'view', 'describe', 'cat', 'read'],
  ['delete', 'rm', 'remove', 'del'],
  ['update', 'edit', 'patch', 'set'],
  ['create', 'new', 'add'],
  ['tail', 'follow', 'watch', 'stream'],
  ['search', 'find', 'grep'],
  ['check', 'validate', 'lint'],
  ['use', 'switch', 'select'],
  ['stop', 'kill', 'cancel'],
  ['reset', 'clear'],
  ['start', 'up', 'serve'],
  ['replay', 'resend'],
  ['resume', 'rerun', 'retry'],
  ['stats', 'count'],
  ['archive', 'export', 'download', 'backup'],
  ['powershell', 'pwsh'],
];

/** Options with which other tools take a key. A key on the command line could be read by every user of the machine. */
export const KEY_OPTIONS: readonly string[] = [
  '--key',
  '--api-key',
  '--management-key',
  '--private-key',
  '--token',
  '--with-token',
  '--secret',
  '--password',
  '--access-key',
  '--bearer-token',
];

/** The words for `svc -v`, which means the version in some tools and verbose in others. */
export const VERSION_WORDS: readonly string[] = ['version'];
