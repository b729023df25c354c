// Sums up the findings of svc doctor: the decisive finding, and who has to act.

import type { ErrorCode } from '../../base/errors.ts';
import type { Finding } from './check.ts';

export interface Verdict {
  /** The decisive finding and who has to act, in one sentence. */
  readonly text: string;
  /** Who has to act. */
  readonly move: 'you' | 'service' | 'other' | 'unknown' | 'nobody';
}

type Ending = readonly [words: string, move: Verdict['move']];

const YOURS: Ending = ['it is your move', 'you'];
const STORE: Ending = ['the store of the ledger has to be fixed, or the network', 'other'];
const ADDRESS: Ending = ['check the base URL', 'you'];

/** Who has to act after a failure, by its code. After any other failure, the operator has to act. */
const ENDINGS: Partial<Readonly<Record<ErrorCode, Ending>>> = {
  network: ['whether service or network cannot be told from here', 'unknown'],
  timeout: ['the service is slow, or something else uses up the rate limit', 'unknown'],
  server: ['the service has to fix this', 'service'],
  rate_limited: ['whatever else uses this key has to slow down', 'other'],
  bad_response: ADDRESS,
  not_found: ADDRESS,
  forbidden: ADDRESS,
};

/**
 * Sums up findings. The first failure decides, since later findings depend on earlier ones. Without a failure, the first
 * warning decides, except a warning about a single permission.
 */
export function verdictOf(findings: readonly Finding[]): Verdict {
  const decisive =
    findings.find(({ result }) => result === 'failed') ??
    findings.find(({ check, result }) => result === 'warning' && !check.includes(':'));
  if (decisive !== undefined) {
    const [words, move] = endingOf(decisive);
    return { text: `${decisive.check}: ${decisive.found.replace(/\.$/, '')}; ${words}`, move };
  }
  const isAlone = findings.some(({ check, result }) => check === 'network' && result === 'skipped');
  return { text: isAlone ? 'nothing failed; no service was contacted' : 'nothing failed', move: 'nobody' };
}

function endingOf({ check, code }: Finding): Ending {
  const isStoreFailure = check === 'ledger' && (code === 'server' || code === 'network' || code === 'timeout');
  return isStoreFailure ? STORE : ((code && ENDINGS[code]) ?? YOURS);
}
