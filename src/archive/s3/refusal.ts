import { shownHost } from '../../address.ts';
import { SvcError } from '../../errors.ts';
import type { TransportFailure } from '../../http/transport-failure.ts';
import { storeWords } from '../../transfer/store-error.ts';
import { explain, type S3Refusal } from './explain.ts';
import type { BucketPlace } from './place.ts';

/** The error for an answer that is not asked for again. */
export function s3Error(refusal: S3Refusal): SvcError {
  const { place, url, status, error } = refusal;
  const { code, words, hint } = explain(refusal);
  const message = `${place.name}: ${words} (${storeWords(status, error)}, ${shownHost(url)})`;
  const facts = { bucket: place.bucket, store_code: error.code };
  return new SvcError(code, message, { status, requestId: error.requestId, hint, facts });
}

/** No usable answer came. */
export function s3Unreachable(place: BucketPlace, url: URL, failure: TransportFailure): SvcError {
  return new SvcError('network', `${place.name}: no answer from ${shownHost(url)}: ${failure.message}`, {
    hint:
      failure.kind === 'tls'
        ? 'If your network inspects TLS, name its authority in NODE_EXTRA_CA_CERTS.'
        : 'Check AWS_ENDPOINT_URL_S3, AWS_REGION, your network and proxy; it is safe to run the command again.',
    retryable: failure.kind !== 'tls' && failure.kind !== 'proxy_refused',
    facts: failure.systemCode === undefined ? undefined : { system_code: failure.systemCode },
  });
}
