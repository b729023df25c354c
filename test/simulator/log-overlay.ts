import { createHash } from 'node:crypto';
import type { Time } from './time.ts';

/** The longest delay of an entry, shorter than the overlap with which the tool follows logs. */
const LATEST_MS = 100_000;

/** Numbers that parsing and rewriting JSON would alter, and names that it would lose. */
const ODD_MEMBERS = [
  '"seq":9007199254740993',
  '"seq":1.10',
  '"seq":1E400',
  '"seq":-0',
  '"__proto__":{"a":1}',
  '"a":"\\u0041"',
];

/** Adds to the sandbox's log what a real one may have: late and repeated entries, and values only text preserves. */
export class LogOverlay {
  readonly #time: Time;

  constructor(time: Time) {
    this.#time = time;
  }

  /** Returns a page of the list as it is sent. With `isLate`, some entries are delayed. */
  page(body: Buffer, isLate: boolean): Buffer {
    const { data, ...rest } = JSON.parse(body.toString()) as { data?: { created_at: string }[] };
    if (data === undefined) return body;
    const texts = data.flatMap((entry) => {
      const text = JSON.stringify(entry);
      const chance = createHash('sha256').update(text).digest();
      const due = Date.parse(entry.created_at) + (isLate ? lateness(chance) : 0);
      if (due > this.#time.now()) return [];
      const member = ODD_MEMBERS[(chance[2] ?? 0) % 24];
      const made = member === undefined ? text : `${text.slice(0, -1)},${member}}`;
      return (chance[3] ?? 0) % 16 === 0 ? [made, made] : [made];
    });
    const page = JSON.stringify({ ...rest, data: [] });
    return Buffer.from(page.replace(/"data":\[\]\}$/, `"data":[${texts.join(',')}]}`));
  }
}

function lateness(chance: Buffer): number {
  return (chance[0] ?? 0) % 3 === 0 ? ((chance[1] ?? 0) / 255) * LATEST_MS : 0;
}
