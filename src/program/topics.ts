import { EXIT_CODES } from '../errors.ts';

/** What each exit code means, in the words of the command contract. */
export const EXIT_CODE_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'done'],
  [1, 'local failure: disk, output, a bug'],
  [2, 'usage; or an answer was needed and nobody could be asked'],
  [3, 'configuration or key missing, unreadable, or refused before anything was sent'],
  [4, 'not allowed (401, 403)'],
  [5, 'not found, or an expired job'],
  [6, 'rejected by the service (400, 409, 422, 424), or changed in between'],
  [7, 'rate limited for longer than --max-wait'],
  [8, 'network or server failure after retries: safe to run again'],
  [9, 'outcome unknown: the request may have taken effect; the message says how to find out'],
  [10, 'the job failed, or the threshold asked for (--fail-on, --warn-at) was met'],
  [11, 'still pending when the time was up; the message holds the command that continues'],
  [12, 'data came back incomplete or altered'],
  [13, 'input refused: a malformed file or body, or something that looks like a card number'],
  [14, 'log entries are known to be missing (--strict)'],
  [129, 'ended by HUP, with the command that continues'],
  [130, 'ended by INT (Ctrl-C), with the command that continues'],
  [143, 'ended by TERM, with the command that continues'],
];

const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['SVC_PROFILE', 'profile, as --profile'],
  ['SVC_BASE_URL', 'base URL, as --base-url'],
  ['SVC_OUTPUT', 'output format, as --output'],
  ['SVC_TIME', 'how tables show times, as --time'],
  ['SVC_ACTION', 'steps for result codes, as --action: WRN_OPT_OUT=exclude,WRN_ISSUER_NO_DATA=keep'],
  ['SVC_TIMEOUT', 'bound on the whole command, as --timeout'],
  ['SVC_DEBUG', 'trace requests, as --debug'],
  ['SVC_MANAGEMENT_API_KEY', 'key for logs and the tenant'],
  ['SVC_PRIVATE_API_KEY', 'key for 3DS and the Account Updater'],
  ['SVC_API_KEY', 'either kind, where the one above is not set'],
  ['…_FILE', 'with any of the three: a file that holds the key'],
  ['SVC_CONFIG_DIR', 'where profiles and keys are kept'],
  ['SVC_STATE_DIR', 'where the sandbox and copies of piped files are kept'],
  ['SVC_CACHE_DIR', 'where what can be fetched again is kept'],
  ['SVC_PACING', 'off: requests go out at once instead of keeping under the rate limits'],
  ['SVC_SANDBOX_FAULTS', 'faults of the embedded sandbox: seed=7; 503@GET /logs:0.5; …'],
  ['AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY', 'credentials of the bucket of an archive; kept secret'],
  ['AWS_SESSION_TOKEN', 'with them, where they are temporary'],
  ['AWS_REGION, AWS_DEFAULT_REGION', 'region of the bucket (default us-east-1)'],
  ['AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL', 'a store of another maker: https, or http on this machine'],
  ['OTEL_EXPORTER_OTLP_HEADERS', 'what a collector asks for: authorization=Bearer%20…; kept secret'],
  ['OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip, the default, or none'],
  ['OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES', 'how a collector tells these logs from others'],
  ['HTTPS_PROXY, HTTP_PROXY, NO_PROXY', 'proxies, as other tools read them'],
  ['NODE_EXTRA_CA_CERTS', 'further certificate authorities'],
  ['NO_COLOR, FORCE_COLOR', 'colour, unless --color says otherwise'],
  ['GITHUB_ACTIONS', 'when true, problems of a request file are annotations beside its lines'],
  ['CI', 'when set, nothing is ever asked, as with --no-input'],
];

/** Help that belongs to no command, by the word that follows `svc help`. */
export const TOPICS: Readonly<Record<string, () => string>> = {
  'exit-codes': () =>
    table('Exit codes', EXIT_CODE_MEANINGS) +
    table('Names of failures, as the error object has them', failures()),
  environment: () => table('Environment variables', VARIABLES),
};

function failures(): (readonly [string, string])[] {
  return Object.entries(EXIT_CODES).map(([name, code]) => [name, `exit code ${code}`] as const);
}

function table(title: string, rows: readonly (readonly [string | number, string])[]): string {
  const width = Math.max(...rows.map(([left]) => String(left).length));
  return [title, ...rows.map(([left, right]) => `  ${String(left).padEnd(width)}  ${right}`), ''].join('\n');
}
