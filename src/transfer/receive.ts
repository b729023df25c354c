import { shownHost } from '../address.ts';
import { SvcError } from '../errors.ts';
import type { Answer } from '../http/exchange.ts';
import type { Setback } from './pause.ts';
import type { OnProgress } from './progress.ts';
import type { Sink } from './sink.ts';
import { lengthOf, md5Of } from './version.ts';

/** What shows that a body came whole: its length, its framing, its ETag, or nothing. */
export type Proof = 'length' | 'framing' | 'etag' | 'none';

interface Received {
  readonly bytes: number;
  readonly sha256: string;
  readonly proof: Proof;
}

/** Moves the answer's body into the sink, and judges whether all of it came (R46). */
export async function receive(
  sink: Sink,
  url: URL,
  answer: Answer,
  onProgress: OnProgress | undefined,
): Promise<Received | Setback> {
  const isContinued = answer.status === 206;
  const total = isContinued ? sink.version?.total : lengthOf(answer);
  for await (const piece of answer.body) {
    if (total !== undefined && sink.length + piece.byteLength > total)
      return startOver(sink, url, 'sent more than it announced');
    await sink.write(piece);
    onProgress?.({ done: sink.length, total });
  }
  if (total !== undefined && sink.length < total) return { error: cut(url, sink.length, total) };
  return judge(sink, url, answer, total);
}

async function judge(
  sink: Sink,
  url: URL,
  answer: Answer,
  total: number | undefined,
): Promise<Received | Setback> {
  const md5 = md5Of(answer);
  const isFramed = /\bchunked\b/i.test(answer.header('transfer-encoding') ?? '');
  const proof = proofOf(total, isFramed, md5);
  // An ETag need not be an MD5: against one whole answer of the right length it proves nothing.
  const isNeeded = answer.status === 206 || proof === 'etag';
  if (isNeeded && md5 !== undefined && md5 !== sink.digests.md5()) {
    if (proof === 'etag') return { error: cut(url, sink.length, undefined) };
    return startOver(sink, url, 'continued with other bytes');
  }
  return { bytes: sink.length, sha256: sink.digests.sha256(), proof };
}

function proofOf(total: number | undefined, isFramed: boolean, md5: string | undefined): Proof {
  if (total !== undefined) return 'length';
  if (isFramed) return 'framing';
  return md5 === undefined ? 'none' : 'etag';
}

async function startOver(sink: Sink, url: URL, what: string): Promise<Setback> {
  await sink.begin(undefined);
  return { error: new SvcError('altered', `the store at ${shownHost(url)} ${what}`, { retryable: true }) };
}

function cut(url: URL, done: number, total: number | undefined): SvcError {
  const of = total === undefined ? '' : ` of ${total}`;
  return new SvcError('incomplete', `the store at ${shownHost(url)} broke off after ${done}${of} bytes`, {
    hint: 'Run the command again.',
    retryable: true,
    facts: { bytes: done },
  });
}
