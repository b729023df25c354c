import { type Circumstances, SINCE } from './history.ts';
import type { Ended } from './process.ts';
import type { World } from './world.ts';

/** The age below which an entry may still be on its way. */
const OVERLAP_MS = 2 * 60_000;

/** The age from which the service keeps no entry, with a margin for those that expire while they are compared. */
const KEPT_MS = 23 * 3_600_000;

/** Compares the entries in the archive and from the tail with the entries of the service. */
export class LogWatch {
  readonly #world: World;
  /** The lines that the tail printed, one process after another. */
  readonly #given: string[] = [];
  /** How often a tail ended without writing its checkpoint. The next tail repeats the entries since the last one. */
  #kills = 0;
  #archivedAt = 0;
  #tailedAt = 0;

  constructor(world: World) {
    this.#world = world;
  }

  note(argv: readonly string[], { code, stdout }: Ended, { fullAt }: Circumstances): void {
    const now = this.#world.time.now();
    if (argv[1] === 'archive' && code === 0) this.#archivedAt = now;
    if (argv[1] !== 'tail' || !argv.includes('tail.json')) return;
    // A killed process may have left half a line.
    const lines = stdout.split('\n');
    this.#given.push(...lines.slice(0, -1));
    if (code === undefined || (fullAt !== undefined && code !== 0)) this.#kills += 1;
    this.#tailedAt = now;
  }

  /** Checks the archive by how `logs verify` ended and what `logs search` printed. */
  async checkArchive(verified: Ended, { stdout }: Ended): Promise<void> {
    if (verified.code !== 0) throw new Error(`the archive is not as it was written: ${verified.stderr}`);
    const entries = stdout.split('\n').filter(Boolean);
    const times = entries.map(createdAt);
    if (times.some((time, at) => time < (times[at - 1] ?? 0))) throw new Error('the archive is out of order');
    await this.#compare('the archive', entries, this.#archivedAt, 0);
  }

  async checkTail(): Promise<void> {
    await this.#compare('the tail', this.#given, this.#tailedAt, this.#kills);
  }

  async #compare(what: string, given: readonly string[], readAt: number, repeats: number): Promise<void> {
    const all = await this.#world.auditor.entries(SINCE, this.#world.time.now() + 1000);
    const due = all.filter((text) => createdAt(text) < readAt - OVERLAP_MS);
    const missing = without(due, given);
    if (missing.length > 0) throw new Error(`${what} lacks ${missing.length} of ${due.length}: ${missing[0]}`);
    // A command can wait for days, after which the service no longer has what the first tail printed.
    const oldest = this.#world.time.now() - KEPT_MS;
    const extra = without(given, all).filter((text) => createdAt(text) > oldest);
    const foreign = repeats > 0 ? extra.filter((text) => !all.includes(text)) : extra;
    if (foreign.length > 0) throw new Error(`${what} has ${foreign.length} too many: ${foreign[0]}`);
  }
}

function createdAt(text: string): number {
  return Date.parse((JSON.parse(text) as { created_at: string }).created_at);
}

/** Returns the first list without the entries of the second. Each of these removes only one equal entry. */
function without(list: readonly string[], taken: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const text of taken) counts.set(text, (counts.get(text) ?? 0) + 1);
  return list.filter((text) => {
    const count = counts.get(text) ?? 0;
    if (count > 0) counts.set(text, count - 1);
    return count === 0;
  });
}
