import { setMaxListeners } from 'node:events';
import { renameSync } from 'node:fs';
import { SANDBOX_MERCHANT_ID } from '../../schema/account-updater-files.ts';
import { derivedToken } from '../seed/logs.ts';
import type { EventOf } from '../state/events.ts';
import type { SandboxState } from '../state/state.ts';
import { isDue, type Job } from '../state/world.ts';
import { requestObject, resultObject, type StoreFiles } from '../store/files.ts';
import { type Card, findCard } from '../vault/cards.ts';
import { inventedCard, inventedToken } from '../vault/invented-card.ts';
import { processRequestFile, type Vault } from './process-file.ts';

/**
 * Makes result files, on first use or earlier in the background. Two processes may make the same result at once, because
 * every process makes the same bytes.
 */
export class Processing {
  readonly #state: SandboxState;
  readonly #files: StoreFiles;
  readonly #stop = new AbortController();
  readonly #running = new Map<string, Promise<void>>();

  constructor(state: SandboxState, files: StoreFiles) {
    this.#state = state;
    this.#files = files;
    // Every waiting upload listens to this signal; without this, Node warns of a leak.
    setMaxListeners(0, this.#stop.signal);
  }

  /** Makes the results of jobs whose processing is due. */
  async settle(jobs: readonly Job[], now: number): Promise<void> {
    for (const job of jobs) if (isDue(job, now)) await this.#processOnce(job);
  }

  /** Makes a result in the background, after a delay. Ignores failures, which occur again in `settle`. */
  prepare(job: Job, delayMs: number): void {
    const begin = (): void => void this.#processOnce(job).catch(() => undefined);
    const timer = setTimeout(begin, delayMs).unref();
    this.#stop.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await Promise.allSettled(this.#running.values());
  }

  #processOnce(job: Job): Promise<void> {
    const name = `${job.id} ${job.uploads}`;
    const running = this.#running.get(name) ?? this.#process(job).finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return running;
  }

  async #process(job: Job): Promise<void> {
    const { upload, uploads } = job;
    if (upload === undefined || job.result !== undefined) return;
    const draft = this.#files.draft();
    try {
      const vault = vaultAt(this.#state, job, upload);
      const request = this.#files.path(requestObject(job.id));
      const made = await processRequestFile(request, draft, vault, this.#stop.signal);
      if (job.uploads !== uploads) return;
      renameSync(draft, this.#files.path(resultObject(job.id)));
      const at = this.#state.now();
      this.#state.record({ type: 'result', at, job: job.id, upload: uploads, ...made });
    } finally {
      this.#files.discard(draft);
    }
  }
}

function vaultAt({ world }: SandboxState, job: Job, upload: EventOf<'upload'>): Vault {
  const { at, merchants = [], acceptTokens = false } = upload;
  const { seed, tenantType } = world.start;
  const find = (token: string): Card | undefined =>
    findCard(world, token, at) ?? (acceptTokens ? inventedCard(seed, token, at) : undefined);
  const renew = (token: string, row: number): string =>
    acceptTokens ? inventedToken(seed, token) : derivedToken(seed, job.number, row, find(token)?.updaterCard ?? 0);
  // A production tenant without merchant ids accepts only rows without a merchant id.
  const production = merchants.length === 0 ? [''] : merchants;
  const known = new Set(tenantType === 'production' ? production : ['', SANDBOX_MERCHANT_ID]);
  return { find, renew, takesMerchant: (id) => known.has(id) };
}
