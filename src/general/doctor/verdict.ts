import type { ErrorCode } from '../../base/errors.ts';
import { type Finding, worstOf } from './finding.ts';

/** Who has to act, in one sentence with its basis. */
export interface Verdict {
  readonly text: string;
  readonly move: 'you' | 'service' | 'other' | 'unknown' | 'nobody';
}

/** How a verdict ends: whose move it is, in words and for a program. */
const ENDINGS = {
  you: ['it is your move', 'you'],
  keys: ['it is your move, or that of whoever manages the keys', 'you'],
  clock: ["it is your move, unless the service's Date header is wrong", 'you'],
  address: ['check the base URL', 'you'],
  service: ['the service has to fix this', 'service'],
  gateway: ['the service has to fix this, or what stands before it', 'service'],
  store: ['the store of the ledger has to be fixed, or the network', 'other'],
  limits: ['whatever else uses this key has to slow down', 'other'],
  slow: ['the service is slow, or something else uses up the rate limit', 'unknown'],
  unknown: ['whether service or network cannot be told from here', 'unknown'],
} as const satisfies Readonly<Record<string, readonly [words: string, move: Verdict['move']]>>;

/** What was found, and how the verdict about it ends. */
type Told = readonly [what: string, ending: keyof typeof ENDINGS];

/** The address of the service as people name it; undefined without a base URL. */
type Place = string | undefined;

const POWERLESS = /has no read permission$/;
const ANSWERED = /^responds with (\d+)/;

/** Sums up findings: the first step on the way to the service that fails says whose move it is. */
export function verdictOf(findings: readonly Finding[], place: Place): Verdict {
  const failure = (...checks: string[]): Finding | undefined =>
    findings.find(({ check, result }) => result === 'failed' && checks.includes(check));
  const config = failure('config', 'settings');
  if (config !== undefined) return verdict([`this machine, ${config.check}: ${config.found}`, 'you']);
  if (failure('base URL') !== undefined) return verdict(['no base URL is set, so no service was checked', 'you']);
  const onTheWay = wayVerdict(findings, place) ?? strangerVerdict(findings);
  if (onTheWay !== undefined) return verdict(onTheWay);
  const service = serviceText(findings, place);
  const failed = failureVerdict(findings, service) ?? warningVerdict(findings, service);
  if (failed !== undefined) return verdict(failed);
  const refused = findings.filter(({ check, result }) => result === 'warning' && isPermission(check));
  const names = refused.map(({ check }) => check).join(', ');
  if (names !== '') return { text: `${service}, but does not allow these keys ${names}`, move: 'nobody' };
  if (place !== undefined) return { text: `${service}, and so does all that was checked here`, move: 'nobody' };
  return { text: 'nothing fails on this machine; no service was contacted', move: 'nobody' };
}

/** Returns the verdict about a server that did not ask for a key, and that no key has shown to be the service. */
function strangerVerdict(findings: readonly Finding[]): Told | undefined {
  const service = findings.find(({ check }) => check === 'service');
  if (service?.result !== 'warning' || isLimited(service) || isProven(findings)) return undefined;
  return [`the server at the base URL may not be the service (${service.found})`, 'address'];
}

/** Whether the server behaved as the service: it requires a key, or it accepted one. */
function isProven(findings: readonly Finding[]): boolean {
  return findings.some(
    ({ check, result, found }) =>
      (result === 'ok' && (check === 'service' || isKey(check) || isPermission(check))) ||
      (isKey(check) && POWERLESS.test(found)),
  );
}

function isLimited({ found }: Finding): boolean {
  return found.endsWith('(429)');
}

function isKey(check: string): boolean {
  return check.endsWith(' key');
}

function isPermission(check: string): boolean {
  return check.includes(':');
}

/** Says what is known of the service. A service that fails a read responds, but does not work. */
function serviceText(findings: readonly Finding[], place: Place): string {
  if (place === undefined) return 'the service was not checked';
  const fails = findings.some(
    (each) => (isKey(each.check) || isPermission(each.check)) && isOfService(each) && !isLimiting(each),
  );
  return isProven(findings) && !fails ? WORKS : 'the service answers';
}

const WORKS = 'the service works';
const OF_SERVICE = new Set<ErrorCode | null>([
  'server',
  'network',
  'timeout',
  'bad_response',
  'not_found',
  'forbidden',
]);

function isOfService({ code }: Finding): boolean {
  return OF_SERVICE.has(code);
}

function isLimiting({ code, found }: Finding): boolean {
  return code === 'rate_limited' || found.includes('limiting requests');
}

/** Returns the verdict about a failed check: first of a key, then of a read, then of anything on this machine. */
function failureVerdict(findings: readonly Finding[], service: string): Told | undefined {
  const failures = findings.filter(({ result }) => result === 'failed');
  const key = failures.find(({ check }) => isKey(check));
  if (key !== undefined) return keyVerdict(key, service);
  const read = failures.find(({ check }) => isPermission(check));
  if (read !== undefined) return [`${service}, but ${read.check} fails (${reason(read)})`, endingOf(read)];
  const other = worstOf(failures);
  if (other === undefined) return undefined;
  const isStore = other.check === 'ledger' && ['server', 'network', 'timeout'].includes(other.code);
  return [`${service}; ${other.check}: ${reason(other)}`, isStore ? 'store' : 'you'];
}

/** Returns the verdict about a warning that makes commands fail. */
function warningVerdict(findings: readonly Finding[], service: string): Told | undefined {
  const warnings = findings.filter(({ result }) => result === 'warning');
  if (warnings.some(({ check }) => check === 'tenant'))
    return [`${service}, but the keys belong to two tenants`, 'you'];
  const clock = warnings.find(({ check }) => check === 'clock');
  if (clock !== undefined) {
    // A difference of hours comes more often from a false Date header than from a wrong clock.
    return [`${service}; the clock of this machine is ${clock.found}`, / h /.test(clock.found) ? 'clock' : 'you'];
  }
  const keys = warnings.filter(({ found }) => POWERLESS.test(found)).map(({ check }) => `the ${check}`);
  return keys.length === 0 ? undefined : [`${service}, but ${keys.join(' and ')} may read nothing`, 'keys'];
}

function verdict([what, ending]: Told): Verdict {
  const [words, move] = ENDINGS[ending];
  return { text: `${what}${ending === 'unknown' ? ';' : ':'} ${words}`, move };
}

function wayVerdict(findings: readonly Finding[], place: Place): Told | undefined {
  const failed = findings.find(({ check, result }) => result === 'failed' && STEPS.has(check));
  if (failed === undefined) return undefined;
  if (failed.code === 'local') return [failed.found, 'you'];
  const tls = findings.some(({ check, result }) => check === 'tls' && result !== 'skipped' && result !== 'failed');
  const isNamed = findings.some(({ check, result }) => check === 'dns' && result === 'ok');
  const below = tls ? 'TCP and TLS work' : 'TCP works';
  switch (failed.check) {
    case 'proxy':
      return [`the proxy cannot be used: ${failed.found}`, 'you'];
    case 'dns':
      return [`no answer from ${place}: name not resolved`, 'unknown'];
    case 'connect':
      return [`no answer from ${place}: ${isNamed ? 'name resolved, ' : ''}TCP ${tcpText(failed.found)}`, 'unknown'];
    case 'tls':
      return [`no answer from ${place}: TCP works, TLS does not (${failed.found})`, 'unknown'];
    default: {
      const status = ANSWERED.exec(failed.found)?.[1];
      if (status !== undefined) return [`${below}, the service answers ${status}`, 'service'];
      if (failed.code === 'bad_response' || failed.code === 'not_found' || failed.code === 'forbidden')
        return [`${below}, and what answers is not the service`, 'address'];
      return [`${below}, no response came (${failed.found})`, 'gateway'];
    }
  }
}

const STEPS = new Set(['proxy', 'dns', 'connect', 'tls', 'service']);

function tcpText(found: string): string {
  if (found.includes('ECONNREFUSED')) return 'refused';
  return /no response|timed out|TIMEDOUT/i.test(found) ? 'unanswered' : `failed (${found})`;
}

function keyVerdict(key: Finding, service: string): Told {
  const { check, code } = key;
  if (code === 'key_missing') return [`${service}, but no key is stored`, 'you'];
  if (code === 'key_refused') return [`${service}, but the stored ${check} is for another base URL`, 'you'];
  if (isLimiting(key)) return [`${service}, but limits the requests of this key`, 'limits'];
  if (code === 'unauthorized')
    return [service === WORKS ? `${service}, this key does not` : `${service}, but refuses the ${check}`, 'you'];
  return isOfService(key)
    ? [`${service}, but not for this key (${reason(key)})`, endingOf(key)]
    : [`${service}, but the ${check} cannot be used (${reason(key)})`, 'you'];
}

/** Returns how the verdict about a request that failed ends. */
function endingOf(finding: Finding): Told[1] {
  const { code } = finding;
  if (isLimiting(finding)) return 'limits';
  if (code === 'local') return 'you';
  // A request that waits for its turn under the rate limit ends as one without a response.
  if (code === 'timeout') return 'slow';
  return code === 'server' || code === 'network' ? 'service' : 'gateway';
}

function reason({ found }: Finding): string {
  return found.replace(/\.$/, '');
}
