import type { Finding } from './finding.ts';

/** Who has to act, in one line with its basis; `isGood` when nobody has to. */
export interface Verdict {
  readonly text: string;
  readonly isGood: boolean;
}

/** The address of the service as people name it; undefined without a base URL. */
type Place = string | undefined;

const UNKNOWN_SIDE = 'whether service or network cannot be told from here';
const POWERLESS = /has no read permission$/;
const ANSWERED = /^responds with (\d+)/;

/** Sums up findings: the first step on the way to the service that fails says whose move it is. */
export function verdictOf(findings: readonly Finding[], place: Place): Verdict {
  const failure = (...checks: string[]): Finding | undefined =>
    findings.find(({ check, result }) => result === 'failed' && checks.includes(check));
  const config = failure('config', 'settings');
  if (config !== undefined) return bad(`this machine, ${config.check}: ${config.found}: you`);
  if (failure('base URL') !== undefined) return bad('no base URL is set, so no service was checked: you');
  const onTheWay = wayVerdict(findings, place);
  if (onTheWay !== undefined) return bad(onTheWay);
  const key = findings.find(({ check, result }) => result === 'failed' && check.endsWith(' key'));
  const works = place === undefined ? 'the service was not checked' : 'the service works';
  if (key !== undefined) return bad(`${works}, ${keyText(key)}`);
  const clock = findings.find(({ check, result }) => check === 'clock' && result === 'warning');
  if (clock !== undefined) return bad(`${works}; the clock of this machine is ${clock.found}: you`);
  const other = findings.find(({ result }) => result === 'failed');
  if (other !== undefined) return bad(`${works}; ${other.check}: ${other.found}`);
  const powerless = findings.filter(({ result, found }) => result === 'warning' && POWERLESS.test(found));
  if (powerless.length > 0) {
    const keys = powerless.map(({ check }) => `the ${check}`).join(' and ');
    return bad(`${works}, but ${keys} may read nothing: you, or who manages the keys`);
  }
  const refused = findings.filter(({ check, result }) => result === 'warning' && check.includes(':'));
  const names = refused.map(({ check }) => check).join(', ');
  if (names !== '') return { text: `${works}, but does not allow these keys ${names}`, isGood: true };
  if (place !== undefined) return { text: `${works}, and so does all that was checked here`, isGood: true };
  return { text: 'nothing fails on this machine; no service was contacted', isGood: true };
}

function bad(text: string): Verdict {
  return { text, isGood: false };
}

function wayVerdict(findings: readonly Finding[], place: Place): string | undefined {
  const failed = findings.find(({ check, result }) => result === 'failed' && STEPS.has(check));
  if (failed === undefined) return undefined;
  const tls = findings.some(({ check, result }) => check === 'tls' && result !== 'skipped' && result !== 'failed');
  const isNamed = findings.some(({ check, result }) => check === 'dns' && result === 'ok');
  const below = tls ? 'TCP and TLS work' : 'TCP works';
  switch (failed.check) {
    case 'proxy':
      return `the proxy cannot be used: ${failed.found}: you`;
    case 'dns':
      return `no answer from ${place}: name not resolved; ${UNKNOWN_SIDE}`;
    case 'connect':
      return `no answer from ${place}: ${isNamed ? 'name resolved, ' : ''}TCP ${tcpText(failed.found)}; ${UNKNOWN_SIDE}`;
    case 'tls':
      return `no answer from ${place}: TCP works, TLS does not (${failed.found}); ${UNKNOWN_SIDE}`;
    default: {
      const status = ANSWERED.exec(failed.found)?.[1];
      if (status !== undefined) return `${below}, the service answers ${status}: the service`;
      if (failed.code === 'bad_response' || failed.code === 'not_found' || failed.code === 'forbidden')
        return `${below}, and what answers is not the service: check the base URL`;
      return `${below}, no response came (${failed.found}): the service, or what stands before it`;
    }
  }
}

const STEPS = new Set(['proxy', 'dns', 'connect', 'tls', 'service']);

function tcpText(found: string): string {
  if (found.includes('ECONNREFUSED')) return 'refused';
  return /no response|timed out|TIMEDOUT/i.test(found) ? 'unanswered' : `failed (${found})`;
}

function keyText({ found, code }: Finding): string {
  if (code === 'key_missing') return 'but no key is stored: you';
  if (code === 'rate_limited' || found.includes('limiting requests'))
    return 'but limits the requests of this key: whatever else uses it';
  // A request that waits for its turn under the rate limit ends as one without a response.
  if (code === 'timeout') return `but not for this key (${found}): the service, or what else uses up the rate limit`;
  if (code === 'server' || code === 'network') return `but not for this key (${found}): the service`;
  return 'this key does not: you';
}
