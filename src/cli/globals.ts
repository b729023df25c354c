import { OUTPUT_FORMATS, TIME_STYLES } from '../output-format.ts';
import { positiveDuration } from './duration.ts';
import { choice, flag, type Input, type Parameter, suggesting, value } from './parameter.ts';
import { text, words } from './values.ts';

/** Options that every command takes, before or after its own. */
export const GLOBAL_PARAMETERS = {
  profile: from(
    'SVC_PROFILE',
    suggesting('profile', value('-p, --profile <name>', 'named settings: base URL, keys, defaults', text)),
  ),
  sandbox: flag('--sandbox', 'use the embedded sandbox: no account, no network'),
  baseUrl: from(
    'SVC_BASE_URL',
    value('--base-url <url>', 'address of the service; https, or loopback', text),
  ),
  output: from(
    'SVC_OUTPUT',
    choice(
      '-o, --output <format>',
      'how data is written; by default a table on a terminal, jsonl or json elsewhere',
      OUTPUT_FORMATS,
    ),
  ),
  fields: suggesting(
    'field',
    value(
      '--fields <a,b.c>',
      'choose and order the columns, in every format; + before a field that svc does not know',
      words,
    ),
  ),
  excelSafe: flag(
    '--excel-safe',
    'with -o csv or --split-into, put a quote before text that a spreadsheet would run as a formula',
  ),
  jq: value('--jq <expression>', 'what jq makes of each object; with -o json, of the whole list', text),
  time: from('SVC_TIME', choice('--time <how>', 'how a table shows times', TIME_STYLES)),
  timeout: from(
    'SVC_TIMEOUT',
    value('--timeout <duration>', 'bound on the whole command, waits included', positiveDuration),
  ),
  maxWait: value(
    '--max-wait <duration>',
    'longest single pause that a rate limit may ask for (default 90s)',
    positiveDuration,
  ),
  curl: flag(
    '--curl',
    'print the next request as a curl command, the key as a variable, in place of sending it',
  ),
  showUrls: flag('--show-urls', 'show upload and download addresses, which are secrets'),
  quiet: flag('-q, --quiet', 'only errors on stderr'),
  verbose: flag('-v, --verbose', 'more on stderr'),
  debug: from('SVC_DEBUG', flag('--debug', 'trace requests on stderr, secrets removed')),
  color: from('NO_COLOR, FORCE_COLOR', choice('--color <when>', 'colour', ['auto', 'always', 'never'])),
  plain: from(
    'SVC_PLAIN',
    flag('--plain', 'for screen readers: words and numbers only, one value a line, nothing repainted'),
  ),
  noPager: from('SVC_PAGER, PAGER', flag('--no-pager', 'do not show long lists through a pager')),
  noInput: from('CI', flag('--no-input', 'never ask: fail at once, naming the option to give instead')),
  yes: flag('-y, --yes', 'answer yes to ordinary confirmations'),
} as const;

/** The global options of one command line. */
export type Globals = Input<typeof GLOBAL_PARAMETERS>;

function from<T>(environment: string, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, environment };
}
