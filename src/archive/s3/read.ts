import { SvcError } from '../../errors.ts';
import type { Answer } from '../../http/exchange.ts';
import { MAX_ATTEMPTS, mayRetry } from '../../http/retry.ts';
import { TransportFailure } from '../../http/transport-failure.ts';
import type { S3Requests } from './requests.ts';

/**
 * The bytes of an object. A body that breaks off goes on where it stopped, on the very same object.
 * @throws SvcError `not_found`, `altered` when the object changed meanwhile
 */
export async function* readObject(requests: S3Requests, path: string): AsyncGenerator<Uint8Array> {
  let [at, breaks] = [0, 0];
  let etag: string | undefined;
  for (;;) {
    const answer = await open(requests, path, at, etag);
    etag ??= answer.header('etag');
    try {
      for await (const chunk of answer.body) {
        at += chunk.byteLength;
        yield chunk;
      }
      return;
    } catch (error) {
      if (!(error instanceof TransportFailure)) throw error;
      breaks += 1;
      const isHopeless =
        etag === undefined || !mayRetry({ failure: error }, 'always') || breaks >= MAX_ATTEMPTS;
      if (isHopeless) throw brokenOff(requests, path, error);
    }
  }
}

async function open(
  requests: S3Requests,
  path: string,
  at: number,
  etag: string | undefined,
): Promise<Answer> {
  const headers = at === 0 || etag === undefined ? {} : { range: `bytes=${at}-`, 'if-match': etag };
  const { answer, refusal } = await requests.send({
    method: 'GET',
    action: 's3:GetObject',
    path,
    headers,
    wanted: at === 0 ? [] : [412, 416],
  });
  const isRest = at === 0 || (answer.status === 206 && startOf(answer) === at);
  if (refusal === undefined && isRest) return answer;
  if (refusal === undefined) answer.discard();
  throw new SvcError('altered', `${requests.place.name}: ${path} changed while it was read`, {
    hint: 'Run the command again; nobody should write over the files of an archive.',
  });
}

function startOf(answer: Answer): number {
  return Number(/^bytes (\d+)-/.exec(answer.header('content-range') ?? '')?.[1] ?? Number.NaN);
}

function brokenOff({ place }: S3Requests, path: string, failure: TransportFailure): SvcError {
  return new SvcError('network', `${place.name}: ${path} broke off: ${failure.message}`, {
    hint: 'It is safe to run the command again.',
  });
}
