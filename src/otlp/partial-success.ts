import { cut, plainLine } from '../http/service-text.ts';
import type { CollectorAnswer } from './post.ts';

/** What a collector that took a request says of it all the same. */
export interface PartialSuccess {
  /** Entries that it did not take and never will. */
  readonly rejected: number;
  /** Its words: a reason, or a warning where it took everything. */
  readonly message: string;
}

/** Reads the answer of a collector that took a request. Undefined where it has nothing more to say. */
export function readPartialSuccess({ text }: CollectorAnswer): PartialSuccess | undefined {
  const partial = member(parse(text), 'partialSuccess');
  // 64-bit numbers travel as text in OTLP's JSON, and as numbers from some.
  const rejected = Number(member(partial, 'rejectedLogRecords') ?? 0);
  const message = member(partial, 'errorMessage');
  const words = typeof message === 'string' ? cut(plainLine(message)) : '';
  const count = Number.isFinite(rejected) && rejected > 0 ? rejected : 0;
  return count === 0 && words === '' ? undefined : { rejected: count, message: words };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? (value as Record<string, unknown>)[name]
    : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
