import { type ErrorCode, SvcError } from '../errors.ts';
import type { HttpResponse } from '../http/exchange.ts';
import type { TransportFailure } from '../http/failure.ts';
import { displayHost } from '../security/address.ts';
import type { Flaw } from './receive.ts';
import { describeStoreError, readStoreError, type StoreError } from './store-error.ts';

/** What was being done, for messages. */
export type Doing = 'upload' | 'download';

/** A store's answer that is no success. */
export interface Refusal {
  readonly url: URL;
  readonly doing: Doing;
  readonly status: number;
  readonly error: StoreError;
}

/**
 * The store does not accept the address (400, 401 or 403, whatever its body says): most likely it has expired. The
 * job is to be read again: it may give a new address, or be gone. `storeCode` is the store's own word.
 */
export class AddressExpired extends SvcError {
  readonly storeCode: string | undefined;

  constructor({ url, doing, status, error }: Refusal) {
    super(
      status === 400 ? 'rejected' : 'forbidden',
      `the store at ${displayHost(url)} refused the ${doing} (${describeStoreError(status, error)})`,
      {
        status,
        requestId: error.requestId,
        hint: 'The address may have expired: read the job again for a new one.',
        facts: error.code === undefined ? undefined : { store_code: error.code },
      },
    );
    this.storeCode = error.code;
  }
}

/** The whole file may have reached the store, and nothing tells. The job must be read before another PUT (R36). */
export class UploadUnclear extends SvcError {
  constructor(url: URL, bytes: number, what: string, status?: number) {
    super('outcome_unknown', `outcome unknown: the store at ${displayHost(url)} may have the file; ${what}`, {
      status,
      hint: "Read the job before you upload again: 'svc au status' shows whether the file has arrived.",
      retryable: false,
      facts: { bytes },
    });
  }
}

/** Bytes that came the same each time, and that one rule alone speaks against: kept for the operator to judge. */
export interface Unproven {
  readonly file: string;
  readonly bytes: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** A file came to its end, several times, and is not proven to be the whole object. It was not put in place. */
export class UnprovenDownload extends SvcError {
  readonly kept: Unproven | undefined;

  constructor(tries: number, flaws: readonly Flaw[], kept: Unproven | undefined) {
    const problems = [...new Set(flaws.map(({ problem }) => `it ${problem}`))].join(', ');
    super(
      'checksum_mismatch',
      `the file was downloaded ${tries} times and is not proven whole: ${problems}`,
      {
        hint: kept
          ? `The bytes were the same each time and are kept in ${kept.file}. If they are right, run the command again with --accept-unproven.`
          : 'Run the command again later; if it stays so, contact support with the job id.',
        retryable: true,
        facts: { rules: [...new Set(flaws.map(({ rule }) => rule))], kept: kept?.file },
      },
    );
    this.kept = kept;
  }
}

/** The error for an answer that is no success and will not be tried again. */
export function refusedByStore(refusal: Refusal): SvcError {
  const { url, doing, status, error } = refusal;
  if (status === 400 || status === 401 || status === 403) return new AddressExpired(refusal);
  const code = codeOf(status);
  const message = `the store at ${displayHost(url)} ${WORDS[code]} the ${doing} (${describeStoreError(status, error)})`;
  return new SvcError(code, message, { status, requestId: error.requestId, hint: HINTS[code] });
}

/** A redirect is never followed: the file, or what is taken for it, would go to or come from elsewhere. */
export function redirectedByStore(url: URL, status: number, location: string | undefined): SvcError {
  const target = URL.canParse(location ?? ':', url.href) ? new URL(location ?? ':', url) : undefined;
  const host = target === undefined ? 'an unnamed place' : displayHost(target);
  return new SvcError(
    'bad_response',
    `the store at ${displayHost(url)} redirects to ${host} (${status}); redirects are not followed`,
    { status, hint: 'Check the base URL and your proxy settings; something in between may be answering.' },
  );
}

/** No usable answer came. */
export function storeUnreachable(url: URL, doing: Doing, failure: TransportFailure): SvcError {
  return new SvcError('network', `the ${doing} with ${displayHost(url)} failed: ${failure.message}`, {
    hint:
      failure.kind === 'tls'
        ? 'If your network inspects TLS, name its authority in NODE_EXTRA_CA_CERTS.'
        : 'Check your network and proxy settings, then run the command again; that is safe.',
    retryable: failure.kind !== 'tls',
    facts: failure.systemCode === undefined ? undefined : { system_code: failure.systemCode },
  });
}

type RefusalCode = Extract<ErrorCode, 'rejected' | 'rate_limited' | 'server' | 'not_found' | 'bad_response'>;

function codeOf(status: number): RefusalCode {
  if (status < 400) return 'bad_response';
  if (status === 429) return 'rate_limited';
  if (status === 404 || status === 410) return 'not_found';
  return status === 408 || status >= 500 ? 'server' : 'rejected';
}

const WORDS: Record<RefusalCode, string> = {
  bad_response: 'gave an answer that makes no sense to',
  rate_limited: 'is limiting requests and refused',
  not_found: 'does not have the object of',
  server: 'failed during',
  rejected: 'rejected',
};

const HINTS: Record<RefusalCode, string> = {
  bad_response: 'Something between you and the store may be answering: check your proxy settings.',
  rate_limited: 'Wait a little and run the command again.',
  not_found: 'Read the job again: it may have expired.',
  server: 'Run the command again later; that is safe.',
  rejected: 'Fix what the message names, then run the command again.',
};

const MAX_ERROR_BODY = 64 * 1024;
const LONGEST_MS = 5_000;

/** Reads what an error response says; a body that breaks off or drips says as much as had come. */
export async function readErrorOf(answer: HttpResponse): Promise<StoreError> {
  const timer = setTimeout(() => answer.discard(), LONGEST_MS);
  try {
    const { bytes } = await answer.readPartial(MAX_ERROR_BODY);
    return readStoreError(bytes.toString('utf8'), (name) => answer.header(name));
  } finally {
    clearTimeout(timer);
  }
}
