import type { ErrorCode } from '../../base/errors.ts';
import { type Failure, type Finding, worstOf } from './check.ts';

/** Who has to act, in one sentence with its basis. */
export interface Verdict {
  readonly text: string;
  readonly move: 'you' | 'service' | 'other' | 'unknown' | 'nobody';
}

type Ending = readonly [words: string, move: Verdict['move']];

const YOURS: Ending = ['it is your move', 'you'];
const STORE: Ending = ['the store of the ledger has to be fixed, or the network', 'other'];
const LIMITS: Ending = ['whatever else uses this key has to slow down', 'other'];
const ADDRESS: Ending = ['check the base URL', 'you'];

/** Whose move a failure is, by its code; that of the operator for any other. */
const ENDINGS: Partial<Readonly<Record<ErrorCode, Ending>>> = {
  network: ['whether service or network cannot be told from here', 'unknown'],
  timeout: ['the service is slow, or something else uses up the rate limit', 'unknown'],
  server: ['the service has to fix this', 'service'],
  rate_limited: LIMITS,
  bad_response: ADDRESS,
  not_found: ADDRESS,
  forbidden: ADDRESS,
};

/** The steps on which all others depend, so that the first of them to fail decides. */
const DECISIVE = new Set(['config', 'settings', 'base URL', 'proxy', 'connect', 'tls', 'service']);

/** The warnings about what makes commands fail. */
const SERIOUS = ['tenant', 'management key', 'private key', 'clock'];

/** Sums up findings: the failure that decides, or the first serious warning, and whose move it is. */
export function verdictOf(findings: readonly Finding[]): Verdict {
  const decisive = findings.filter(({ check }) => DECISIVE.has(check));
  const failure = worstOf(decisive.slice(0, 1 + decisive.findIndex(({ code }) => code !== null))) ?? worstOf(findings);
  const stranger = strangerIn(findings);
  if (stranger !== undefined && (failure === undefined || !DECISIVE.has(failure.check)))
    return verdict(stranger, ADDRESS);
  if (failure !== undefined) return verdict(failure, endingOf(failure));
  const warnings = findings.filter(({ result }) => result === 'warning');
  const warning = SERIOUS.flatMap((name) => warnings.find(({ check }) => check === name) ?? [])[0];
  if (warning !== undefined) return verdict(warning, YOURS);
  const isAlone = findings.some(({ check, result }) => check === 'network' && result === 'skipped');
  return { text: isAlone ? 'nothing failed; no service was contacted' : 'nothing failed', move: 'nobody' };
}

/** Returns the finding about a server that asked for no key, unless a key has shown it to be the service. */
function strangerIn(findings: readonly Finding[]): Finding | undefined {
  const service = findings.find(({ check, result }) => check === 'service' && result === 'warning');
  const hasProof = findings.some(({ check, result }) => result === 'ok' && /key$|:/.test(check));
  return hasProof || service?.found.endsWith('(429)') ? undefined : service;
}

function endingOf({ check, code, found }: Failure): Ending {
  if (check === 'ledger' && ['server', 'network', 'timeout'].includes(code)) return STORE;
  // A request that waits for its turn under the rate limit ends as one without a response.
  return found.includes('limiting requests') ? LIMITS : (ENDINGS[code] ?? YOURS);
}

function verdict({ check, found }: Finding, [words, move]: Ending): Verdict {
  return { text: `${check}: ${found.replace(/\.$/, '')}; ${words}`, move };
}
