import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SharedRateLedger } from '../../../src/cli/app/rate-ledger.ts';
import { KNOWN_RATES, type PacedRequest, Pacer, type LedgerEntry } from '../../../src/client/http/pacer.ts';
import { FakeClock } from '../../support/clock.ts';

export const REQUEST: PacedRequest = { key: 'management', path: '/logs', secret: 'key_canary7Qz4Xw91Lm' };

export const quiet = (): void => undefined;

class RacedLedger extends SharedRateLedger {
  beforeAdd: (() => void)[] = [];

  override add(request: PacedRequest, entry: LedgerEntry): void {
    if (entry.answeredAt === undefined && entry.rules.length > 0) this.beforeAdd.shift()?.();
    super.add(request, entry);
  }
}

/** A state directory that several processes share. */
export class Machine {
  readonly clock = new FakeClock();
  readonly directory = path.join(mkdtempSync(path.join(tmpdir(), 'svc-pacing-')), 'pacing');
  readonly remove = (): void => rmSync(path.dirname(this.directory), { recursive: true });

  /** Returns the pacer of a new process. Before it adds a request to the ledger, it calls the next of `beforeAdd`. */
  process(baseUrl = 'https://api.example/', beforeAdd: (() => void)[] = [], maxWaitMs?: number): Pacer {
    const logs = new RacedLedger(this.directory, this.clock, new URL(baseUrl));
    logs.beforeAdd = beforeAdd;
    return new Pacer(KNOWN_RATES, this.clock, logs, maxWaitMs);
  }

  /** Returns the pacer of a process that waits at most this long. */
  patient(maxWaitMs: number): Pacer {
    return this.process(undefined, [], maxWaitMs);
  }

  files(): string[] {
    return readdirSync(this.directory).filter((name) => name.endsWith('.log'));
  }
}
