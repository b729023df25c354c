import { shownHost } from '../address.ts';
import { SvcError } from '../errors.ts';
import type { Answer } from '../http/exchange.ts';
import type { Setback } from './pause.ts';
import type { OnProgress } from './progress.ts';
import type { Sink } from './sink.ts';
import { lengthOf, md5Of, wrongTypeOf } from './version.ts';

/** What shows that a body came whole: the MD5 in its ETag, its length, its framing, or nothing. */
export type Proof = 'md5' | 'length' | 'framing' | 'none';

/** A rule that a file must keep to be taken for the object, and how it breaks it. */
export interface Flaw {
  /** Stable, for scripts. */
  readonly rule: 'checksum' | 'content_type' | 'columns' | 'row_count' | 'end';
  /** What goes after "it", such as "came as text/html". */
  readonly problem: string;
}

/** A body that came to its end. */
export interface Received {
  readonly bytes: number;
  /** Hex SHA-256 of the bytes. */
  readonly sha256: string;
  readonly proof: Proof;
  /** What shows in the response that the bytes are not the object. */
  readonly flaws: readonly Flaw[];
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
  const expected = md5Of(answer);
  const isOther = expected !== undefined && expected !== sink.digests.md5();
  if (isOther && answer.status === 206) return startOver(sink, url, 'continued with other bytes');
  const flaws: Flaw[] = [];
  if (isOther) flaws.push({ rule: 'checksum', problem: 'does not have the MD5 that its ETag gives' });
  const type = wrongTypeOf(answer);
  if (type !== undefined) flaws.push({ rule: 'content_type', problem: `came as ${type}` });
  const isChunked = /\bchunked\b/i.test(answer.header('transfer-encoding') ?? '');
  const framed = isChunked ? 'framing' : 'none';
  const proof = expected === undefined ? (total === undefined ? framed : 'length') : 'md5';
  return { bytes: sink.length, sha256: sink.digests.sha256(), proof, flaws };
}

async function startOver(sink: Sink, url: URL, what: string): Promise<Setback> {
  await sink.begin(undefined);
  return { error: new SvcError('altered', `the store at ${shownHost(url)} ${what}`, { retryable: true }) };
}

function cut(url: URL, done: number, total: number): SvcError {
  return new SvcError(
    'incomplete',
    `the store at ${shownHost(url)} broke off after ${done} of ${total} bytes`,
    {
      hint: 'Run the command again.',
      retryable: true,
      facts: { bytes: done },
    },
  );
}
