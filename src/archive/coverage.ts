import type { ArchiveRecord } from './record.ts';

/** A half-open stretch of time, in epoch milliseconds. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Which stretches of time an archive has read, and in which entries may be missing. */
export class Coverage {
  readonly #read: Stretch[] = [];
  readonly #lost: Stretch[] = [];

  add(record: ArchiveRecord): void {
    if (record.kind === 'segments') join(this.#read, stretch(record.read_from, record.read_to));
    if (record.kind === 'gap') join(this.#lost, stretch(record.from, record.to));
  }

  /** Stretches in which nothing is missing, in order. */
  covered(): Stretch[] {
    return this.#read.flatMap((one) => without(one, this.#lost));
  }

  /** Stretches between the beginning and the end in which entries may be missing, in order. */
  gaps(): Stretch[] {
    const all = [...this.#read, ...this.#lost];
    if (all.length === 0) return [];
    const whole = {
      from: Math.min(...all.map(({ from }) => from)),
      to: Math.max(...all.map(({ to }) => to)),
    };
    return without(whole, this.covered());
  }
}

/** Adds a stretch to others that are in order and apart. Most come in order, so it goes in from the end. */
function join(stretches: Stretch[], added: Stretch): void {
  if (added.to <= added.from) return;
  let { from, to } = added;
  let at = stretches.length;
  for (; at > 0; at -= 1) {
    const before = stretches[at - 1];
    if (before === undefined || before.to < from) break;
    if (before.from > to) continue;
    [from, to] = [Math.min(from, before.from), Math.max(to, before.to)];
    stretches.splice(at - 1, 1);
  }
  stretches.splice(at, 0, { from, to });
}

/** What is left of a stretch without others, which are in order and apart. */
function without({ from, to }: Stretch, others: readonly Stretch[]): Stretch[] {
  const left: Stretch[] = [];
  let at = from;
  for (const other of others) {
    if (other.to <= at || other.from >= to) continue;
    if (other.from > at) left.push({ from: at, to: other.from });
    at = other.to;
  }
  if (at < to) left.push({ from: at, to });
  return left;
}

function stretch(from: string, to: string): Stretch {
  return { from: Date.parse(from), to: Date.parse(to) };
}
