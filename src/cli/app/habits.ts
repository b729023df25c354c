/** What people type out of habit with gh, stripe, aws and kubectl, and what to type instead. */
export interface Habits {
  /**
   * The words typed after `svc`, the words to type instead, and why if that is not plain. Words of a group stand before
   * an unknown word. An empty command has no counterpart.
   */
  readonly commands?: readonly (readonly [typed: string, command: string, why?: string])[];
  /**
   * Options of other tools, and those of svc for the same purpose, or an argument such as `<dir>`. The first that the
   * command has, and that takes the typed value, is proposed. An option without a counterpart has a reason only.
   */
  readonly options?: readonly (readonly [typed: string, options: readonly string[], why?: string])[];
  /** Commands to which people give one word too many, and where that word belongs. */
  readonly extraWords?: readonly (readonly [command: string, instead: string, why?: string])[];
  /** Words of other tools for a choice of an option. */
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
    ['--ndjson', ['--output jsonl']],
    ['--format', ['--output']],
    ['--out-format', ['--output']],
    ['--query', ['--jq']],
    ['--template', ['--jq']],
    ['--jsonpath', ['--jq']],
    ['--go-template', ['--jq']],
    ['--filter', ['--jq']],
    ['--sort', ['--jq'], "Such as -o json --jq 'sort_by(.created_at)'."],
    ['--sort-by', ['--jq'], "Such as -o json --jq 'sort_by(.created_at)'."],
    ['--select', ['--fields']],
    ['--columns', ['--fields']],
    ['--no-headers', ['--output jsonl']],
    ['--no-color', ['--color never']],
    ['--no-colour', ['--color never']],
    ['--colour', ['--color']],
    ['-v', ['--debug'], "To show the version: 'svc --version'."],
    ['--verbose', ['--debug']],
    ['--log-level', ['--debug']],
    ['--trace', ['--debug']],
    ['--silent', ['--quiet']],
    ['--from', ['--since']],
    ['--after', ['--since']],
    ['--start-time', ['--since']],
    ['--start-date', ['--since']],
    ['--newer-than', ['--since']],
    ['--before', ['--until']],
    ['--end-time', ['--until']],
    ['--end-date', ['--until']],
    ['--set', ['--at']],
    ['--watch', ['--follow']],
    ['-w', ['--follow']],
    ['--tail', ['--last', '--limit']],
    ['--max-items', ['--limit', '--max']],
    ['--max-results', ['--limit', '--max']],
    ['--count', ['--limit', '--max']],
    ['-l', ['--limit']],
    ['-L', ['--limit']],
    ['--per-page', ['--page-size']],
    ['--page', ['--start']],
    ['--starting-token', ['--start']],
    ['--cursor', ['--start']],
    ['--starting-after', ['--start']],
    ['--page-all', ['--all', '--paginate']],
    ['--region', ['--base-url']],
    ['--endpoint', ['--base-url']],
    ['--endpoint-url', ['--base-url']],
    ['--api-base', ['--base-url']],
    ['--url', ['--base-url']],
    ['--server', ['--base-url']],
    ['--context', ['--profile']],
    ['--account', ['--profile']],
    ['--project-name', ['--profile']],
    ['--namespace', ['--profile']],
    ['-A', ['--profiles']],
    ['--all-profiles', ['--profiles']],
    ['--profiles-all', ['--profiles']],
    ['--live', [], 'The tenant of the key decides whether it is the live service.'],
    ['--test', ['--sandbox']],
    ['--local', ['--sandbox']],
    ['--dryrun', ['--dry-run']],
    ['--plan', ['--dry-run']],
    ['--what-if', ['--dry-run']],
    ['--assume-yes', ['--yes']],
    ['--auto-approve', ['--yes']],
    ['--no-confirm', ['--yes']],
    ['--force', ['--confirm', '--yes']],
    ['--no-cli-pager', ['--no-pager']],
    ['--no-interactive', ['--no-input']],
    ['--non-interactive', ['--no-input']],
    ['--out', ['--out-dir', '<dir>']],
    ['--dir', ['--out-dir', '<dir>']],
    ['--directory', ['--out-dir', '<dir>']],
    ['--output-file', ['--out']],
    ['--outfile', ['--out']],
    ['-f', ['--set', '--force', '--file']],
    ['--filename', ['--file', '<file>', '--out']],
    ['--cli-input-json', ['--file']],
    ['--input', ['--file']],
    ['--body', ['--file', '--set']],
    ['--data', ['--file', '--set']],
    ['-d', ['--file', '--set']],
    ['--field', ['--set', '--fields']],
    ['--raw-field', ['--set']],
    ['-F', ['--set', '--fields']],
    ['--param', ['--query']],
    ['--params', ['--query']],
    ['-H', [], 'Headers cannot be set; svc sends those that the service needs.'],
    ['--header', [], 'Headers cannot be set; svc sends those that the service needs.'],
    ['-k', [], 'TLS checks cannot be turned off.'],
    ['--insecure', [], 'TLS checks cannot be turned off.'],
    ['--no-verify-ssl', [], 'TLS checks cannot be turned off.'],
    ['--insecure-skip-tls-verify', [], 'TLS checks cannot be turned off.'],
    ['--wait-timeout', ['--timeout']],
    ['--cli-read-timeout', ['--timeout']],
  ],
  choices: {
    '--output': {
      text: 'table',
      pretty: 'table',
      tsv: 'csv',
      ndjson: 'jsonl',
      yml: 'yaml',
      name: '--fields',
      'custom-columns': '--fields',
      jsonpath: '--jq',
      'go-template': '--jq',
    },
    '--time': { gmt: 'utc', iso: 'utc', zulu: 'utc', ago: 'relative' },
    '--color': { on: 'always', true: 'always', yes: 'always', off: 'never', false: 'never', no: 'never' },
  },
};

/** Verbs of other tools, by the verb that svc has for the same. */
export const VERBS: Readonly<Record<string, readonly string[]>> = {
  list: ['ls'],
  show: ['get', 'view', 'describe', 'cat', 'read'],
  delete: ['rm', 'remove', 'del'],
  update: ['edit', 'patch', 'set'],
  create: ['new', 'add'],
  tail: ['follow', 'watch', 'stream'],
  search: ['find', 'grep'],
  check: ['validate', 'lint'],
  use: ['switch', 'select'],
};

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
