import { renameSync, writeFileSync } from 'node:fs';
import { SvcError } from '../../src/base/errors.ts';
import { sha256Of } from '../../src/base/files/draft.ts';
import { Client } from '../../src/client/api/client.ts';
import { Pages } from '../../src/client/api/pages.ts';
import type { DownloadOptions, DownloadResult } from '../../src/client/transfer/download.ts';
import { AddressRefused, UploadUnclear } from '../../src/client/transfer/store-errors.ts';
import type { UploadOptions, UploadResult } from '../../src/client/transfer/upload.ts';
import type { AccountUpdaterJob } from '../../src/schema/account-updater.ts';
import type { FakeClock } from '../support/clock.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Faults of a request. A fault that does not apply to a request has no effect. */
export const TROUBLES = [
  ...(['404', 'gateway 404', '500', 'reset', 'stale', 'lost', 'kept 500', 'lost 500'] as const),
  ...(['kept reset', 'lost reset', 'cut', '403', '429', 'replica', 'hours pass', 'a fortnight passes'] as const),
];
export type Trouble = (typeof TROUBLES)[number];

interface Job {
  readonly id: string;
  readonly tenant: string;
  readonly created: number;
  /** The file that the store received, and when. */
  stored?: { readonly text: string; readonly at: number };
}

/** A callback before and after every request, which throws to kill the process there. */
export type Step = () => void;

/** The service and its store in memory, fast enough for thousands of histories. Tests can count all effects. */
export class FakeService {
  readonly jobs: Job[] = [];
  /** Every file that the store received, in order. */
  readonly taken: { readonly job: string; readonly text: string }[] = [];
  readonly failed = new Set<string>();
  /** The tenant of the key in use. */
  tenant = 'ours';
  /** Jobs that the service denies, in reads and lists alike. */
  denied: ReadonlySet<string> = new Set();
  /** The number of jobs that fail; the first jobs with a file do. */
  failing = 0;
  troubles = new Map<number, Trouble>();
  /** The number of jobs that are older than the history. */
  #seeds = 0;
  #requests = 0;
  /** The time until which an outdated replica responds: once, and for less time than the tool waits for proof. */
  #replicaUntil: number | undefined;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
  }

  get requests(): number {
    return this.#requests;
  }

  /** The jobs that were created since the history began. */
  get created(): string[] {
    return this.jobs.slice(this.#seeds).map(({ id }) => id);
  }

  /** Resets the counts, so that requests before a history do not count. */
  seeded(): void {
    this.#seeds = this.jobs.length;
    this.#requests = 0;
    this.taken.length = 0;
  }

  /** Returns a client that sends its requests to this service. */
  client(signal: AbortSignal, step: Step): Client {
    const client = new Client({ baseUrl: 'http://127.0.0.1:9', clock: this.#clock, signal, pacing: false });
    // Spies would keep the clients of thousands of histories in memory, so plain properties replace the methods.
    const accountUpdater = Object.assign(client.accountUpdater, {
      create: () => this.#request(step, (trouble) => this.#create(trouble)),
      read: (id: string) => this.#request(step, (trouble) => this.#read(id, trouble)),
      list: () =>
        new Pages(async () => ({
          items: await this.#request(step, (trouble) => this.#list(trouble)),
          next: undefined,
        })),
    });
    const any = Object.assign(client.any, { send: forbidden });
    Object.defineProperties(client, { accountUpdater: { value: accountUpdater }, any: { value: any } });
    return client;
  }

  async #request<T>(step: Step, work: (trouble: Trouble | undefined) => T): Promise<T> {
    this.#requests += 1;
    step();
    const trouble = this.troubles.get(this.#requests);
    if (trouble === 'replica') this.#replicaUntil ??= this.#clock.now() + 4 * MINUTE;
    if (trouble === 'hours pass') await this.#clock.advance(2 * HOUR);
    if (trouble === 'a fortnight passes') await this.#clock.advance(14 * 24 * HOUR);
    const result = work(trouble);
    step();
    return result;
  }

  #create(trouble: Trouble | undefined): AccountUpdaterJob {
    if (trouble === '429') throw new SvcError('rate_limited', 'slow down');
    if (trouble === 'lost reset' || trouble === '500') throw new SvcError('outcome_unknown', 'no answer');
    const id = `job-${this.jobs.length + 1}`;
    const job: Job = { id, tenant: this.tenant, created: this.#clock.now() };
    this.jobs.push(job);
    if (trouble === 'lost') throw new SvcError('outcome_unknown', 'no answer');
    return this.#view(job, 0);
  }

  #read(id: string, trouble: Trouble | undefined): AccountUpdaterJob {
    this.#disturb(trouble);
    const lag = this.#lag(trouble);
    const job = this.#visible(lag).find((each) => each.id === id);
    if (job === undefined || trouble === '404') throw new SvcError('not_found', 'not found', { status: 404 });
    return this.#view(job, lag);
  }

  #list(trouble: Trouble | undefined): AccountUpdaterJob[] {
    this.#disturb(trouble);
    if (trouble === '404') throw new SvcError('not_found', 'not found', { status: 404 });
    const lag = this.#lag(trouble);
    return this.#visible(lag)
      .toReversed()
      .map((job) => this.#view(job, lag));
  }

  #disturb(trouble: Trouble | undefined): void {
    const facts = { not_from_service: true };
    if (trouble === 'gateway 404') throw new SvcError('not_found', 'a page', { status: 404, facts });
    if (trouble === '500') throw new SvcError('server', 'failed', { status: 500 });
    if (trouble === 'reset' || trouble === 'lost') throw new SvcError('network', 'no answer');
  }

  #lag(trouble: Trouble | undefined): number {
    if (this.#clock.now() < (this.#replicaUntil ?? 0)) return 3 * HOUR;
    return trouble === 'stale' ? 20 * MINUTE : 0;
  }

  /** Returns the jobs as they were `lag` milliseconds ago. */
  #visible(lag: number): Job[] {
    const at = this.#clock.now() - lag;
    const isThere = ({ stored, created }: Job): boolean =>
      created <= at && (at < created + HOUR || (stored !== undefined && stored.at <= at));
    return this.jobs.filter((job) => job.tenant === this.tenant && isThere(job) && !this.denied.has(job.id));
  }

  #view(job: Job, lag: number): AccountUpdaterJob {
    const at = this.#clock.now() - lag;
    const { id, tenant, created, stored } = job;
    // For a moment after its upload, a job still looks as if it had no file.
    const age = stored === undefined ? -1 : at - stored.at - 1_500;
    const canFail = age >= 0 && this.failed.size < this.failing && this.taken.some((each) => each.job === id);
    if (canFail) this.failed.add(id);
    const ended = this.failed.has(id) ? 'failed' : 'completed';
    return {
      id,
      tenant_id: tenant,
      created_by: `key of ${tenant}`,
      created_at: new Date(created).toISOString(),
      status: age < 0 ? 'pending' : age < MINUTE ? 'processing' : ended,
      ...(age < 0 && {
        upload_url: `http://127.0.0.1:9/${id}?at=${at}`,
        expires_at: new Date(created + HOUR).toISOString(),
      }),
      ...(age >= MINUTE && ended === 'completed' && { download_url: `http://127.0.0.1:9/${id}` }),
      errors: this.failed.has(id) ? ['made up'] : [],
    };
  }

  /** Stands in for the transfer, with the calls and effects of `uploadFile` in the same order. */
  async put({ url, source, onSent }: UploadOptions, step: Step): Promise<UploadResult> {
    const trouble = await this.#request(step, (given) => given);
    onSent?.('some');
    if (trouble === 'cut' || trouble === 'reset') throw new SvcError('network', 'reset before the last piece');
    let text = '';
    for await (const piece of source.open()) text += Buffer.from(piece).toString('utf8');
    onSent?.('all');
    step();
    const job = this.jobs.find(({ id }) => id === url.pathname.slice(1));
    const isOpen = job && this.#clock.now() < job.created + HOUR && job.stored === undefined;
    if (!isOpen || trouble === '403' || trouble === '429') {
      onSent?.('some');
      throw trouble === '429' ? new SvcError('rate_limited', 'slow down', { status: 429 }) : expired(url);
    }
    if (trouble === 'lost 500' || trouble === 'lost reset')
      throw new UploadUnclear(url, source.size, 'it never arrived');
    job.stored = { text, at: this.#clock.now() };
    this.taken.push({ job: job.id, text });
    if (trouble === 'kept 500' || trouble === 'kept reset' || trouble === 'lost')
      throw new UploadUnclear(url, source.size, 'its response was lost');
    step();
    return { bytes: source.size, sha256: source.sha256 ?? '', attempts: 1 };
  }

  /** Stands in for the download of results, with the calls and effects of `downloadFile` in the same order. */
  async get({ address, target, inspect, onAccepted }: DownloadOptions, step: Step): Promise<DownloadResult> {
    const url = await address();
    const trouble = await this.#request(step, (given) => given);
    this.#disturb(trouble);
    const { stored } = this.jobs.find(({ id }) => id === url.pathname.slice(1)) ?? {};
    const [, ...rows] = (stored?.text ?? '').trimEnd().split('\n');
    const text = ['token,result_code', ...rows.map((row) => `${row.split(',')[0]},UPD_NONE`), ''].join('\n');
    const draft = `${target}.draft`;
    writeFileSync(draft, text);
    const flaws = (await inspect?.(draft, 'length')) ?? [];
    if (flaws.length > 0) throw new Error(`the results of ${url.pathname} were refused: ${flaws[0]?.problem}`);
    await onAccepted?.(draft);
    step();
    renameSync(draft, target);
    step();
    return { path: target, bytes: text.length, sha256: sha256Of(text) } as DownloadResult;
  }
}

async function forbidden(): Promise<never> {
  throw new SvcError('forbidden', 'not allowed', { status: 403 });
}

function expired(url: URL): AddressRefused {
  const error = { code: 'AccessDenied', message: undefined, requestId: undefined };
  return new AddressRefused({ url, transfer: 'upload', status: 403, error });
}
