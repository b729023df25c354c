import { OUTPUT_FORMATS, TIME_STYLES } from '../config/values.ts';
import { suggesting, value, conflicting, flag, choice, type Input, type Parameter } from './parameter.ts';
import { text, words, positiveDuration } from './value-parsers.ts';

export const GLOBAL_PARAMETERS = {
  profile: from(
    'SVC_PROFILE',
    suggesting('profile', value('-p, --profile <name>', 'named settings: base URL, keys, defaults', text)),
  ),
  sandbox: conflicting(['profile'], flag('--sandbox', 'use the embedded sandbox: no account, no network')),
  baseUrl: from('SVC_BASE_URL', value('--base-url <url>', 'address of the service: https, or loopback', text)),
  output: from('SVC_OUTPUT', choice('-o, --output <format>', 'output format', OUTPUT_FORMATS)),
  fields: suggesting('field', value('--fields <a,b.c>', 'choose and order the columns', words)),
  wide: flag('--wide', 'show every column in full, however narrow the terminal is'),
  excelSafe: flag('--excel-safe', 'with -o csv or --split-into, quote text that a spreadsheet would run as a formula'),
  jq: value('--jq <expression>', 'filter with a jq expression, each entry by itself', text),
  time: from('SVC_TIME', choice('--time <how>', 'time format in tables', TIME_STYLES)),
  timeout: from('SVC_TIMEOUT', value('--timeout <duration>', 'time limit, waits included', positiveDuration)),
  maxWait: value('--max-wait <duration>', 'longest pause to accept from a rate limit (default 90s)', positiveDuration),
  curl: flag('--curl', 'print the next request as a curl command (the key as a variable) instead of sending it'),
  showUrls: flag('--show-urls', 'show upload and download addresses, which are secrets'),
  quiet: flag('-q, --quiet', 'print only warnings and errors on stderr'),
  debug: from('SVC_DEBUG', flag('--debug', 'trace requests on stderr, secrets removed')),
  color: from(
    'NO_COLOR, FORCE_COLOR, CLICOLOR_FORCE, CLICOLOR',
    choice('--color <when>', 'when to use color', ['auto', 'always', 'never']),
  ),
  plain: from(
    'SVC_PLAIN',
    flag('--plain', 'for screen readers: words and numbers only, one value per line, nothing repainted'),
  ),
  noPager: from('SVC_PAGER, PAGER', flag('--no-pager', 'do not use a pager for long lists')),
  noInput: from('CI, AI_AGENT', flag('--no-input', 'never prompt; fail and name the missing option')),
  yes: flag('-y, --yes', "skip confirmation prompts (except 'tenant delete')"),
} as const;

export type Globals = Input<typeof GLOBAL_PARAMETERS>;

function from<T>(environment: string, parameter: Parameter<T>): Parameter<T> {
  return { ...parameter, environment };
}
