import type { IncomingMessage, ServerResponse } from 'node:http';
import { ACCEPT_SECOND_PUT, FaultChooser, readFaults } from '../../src/emulator/faults/fault.ts';
import { faultInterceptor } from '../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { DEFAULT_PAGE_SIZE } from '../../src/schema/page-size.ts';
import type { SimulatedProcess } from './context.ts';
import { FORGERIES, type Forgery, forge } from './forgeries.ts';
import { LogOverlay } from './log-overlay.ts';
import type { Kept } from './records.ts';
import type { Time } from './time.ts';
import { Wire } from './wire.ts';

/** Keys of another tenant at the same address, each with the sandbox key that its service accepts. */
const THEIR_KEYS: Readonly<Record<string, string>> = {
  'their-private-key': 'sandbox-private-key',
  'their-management-key': 'sandbox-management-key',
};

const JOB_PATH = /^\/account-updater\/jobs\/([^/?]+)$/;
const REQUEST_PATH = /^\/store\/requests\/([\w-]+)\.csv/;
const RESULT_PATH = /^\/store\/results\/([\w-]+)\.csv/;

/** Who denies that jobs exist, in reads and in lists, while the weather lasts. */
export type Denial =
  /** The service denies the jobs whose uploads it acknowledged and a machine recorded as stored. */
  | 'acknowledged'
  /** A gateway sends a page for each job. Lists lack the jobs that were recorded before the weather began. */
  | 'behind a gateway';

interface Trouble {
  readonly faults: Interceptor;
  readonly pseudo: FaultChooser;
}

interface Weather extends Trouble {
  readonly denies?: Denial | undefined;
}

/** Stands between the processes and the service, and gives each process its faults. */
export class Adversary {
  readonly #troubles = new WeakMap<SimulatedProcess, Trouble>();
  #weather: Weather | undefined;
  readonly #logs: LogOverlay;
  /** Responses by path, with a word before it for the other tenant: the first three and the newest. */
  readonly #answers = new Map<string, Answer[]>();
  /** Secrets that were sent where they must never go. */
  readonly leaks: string[] = [];
  /** Jobs that each process created and learned of from an intact response. */
  readonly created = new WeakMap<SimulatedProcess, string[]>();
  /** The number of jobs that fail: the first ones that would complete. */
  failing = 0;
  /** The status of each job in the last response about it that a process got. */
  readonly told = new WeakMap<SimulatedProcess, Map<string, string>>();
  /** Jobs that a response to a process ever showed as under way. */
  readonly toldUnderWay = new WeakMap<SimulatedProcess, Set<string>>();
  /** Jobs that a response to a process ever showed as waiting for their file. */
  readonly toldPending = new WeakMap<SimulatedProcess, Set<string>>();
  /** Jobs whose upload got a successful response, even from a gateway that stored nothing. */
  readonly stored = new Set<string>();
  /** Hashes of the changed results that the store sent, by job. */
  readonly forged = new Map<string, Set<string>>();
  /** Whether the weather ever had faults or denials. The tool may remember jobs that were denied. */
  hasDenied = false;
  /** How often the keys of the tenant were replaced. */
  rotations = 0;
  /** The jobs that failed. Nobody pays for them. */
  readonly failed = new Set<string>();
  readonly #completed = new Set<string>();
  readonly #acknowledged = new Set<string>();
  /** The last response to a creation. */
  #creation: Buffer | undefined;
  /** The jobs that were recorded when the weather began. */
  #older: ReadonlySet<string> = new Set();
  /** Returns what all machines keep of jobs now. */
  kept: () => readonly Kept[] = () => [];
  /** Jobs of other systems, which no process of the tool created. */
  readonly strangers = new Set<string>();
  /** Tells whether a ledger binds rows to a job. */
  isClaimed: (job: string) => boolean = () => true;
  /** Jobs to which an upload began that no ledger knew. */
  readonly unclaimed: string[] = [];
  /** Passes a request of the other tenant to its service. */
  theirs: ((incoming: IncomingMessage, outgoing: ServerResponse) => void) | undefined;

  constructor(time: Time) {
    this.#logs = new LogOverlay(time);
  }

  readonly intercept: Interceptor = (incoming, outgoing, proceed) => {
    const { url = '', headers, method = '' } = incoming;
    const key = headers['svc-api-key'];
    if (url.startsWith('/store/') && key !== undefined) this.leaks.push('a key at the store');
    headers[ACCEPT_SECOND_PUT] = 'yes';
    const process = Wire.openerOf(incoming.socket)?.process;
    // Only processes get faults; the auditor sees the true service.
    const troubles = process === undefined ? [] : [this.#troubles.get(process), this.#weather];
    const pseudo = troubles.map((trouble) => trouble?.pseudo.choose(method, url)?.headers ?? {});
    const trouble: Misfortune = {
      process,
      isStale: pseudo.some((headers) => 'x-stale' in headers),
      forgery: FORGERIES.find((name) => pseudo.some((headers) => `x-${name}` in headers)),
      isKnown: pseudo.some((headers) => 'x-known' in headers),
      isReplayed: pseudo.some((headers) => 'x-replayed' in headers),
      denies: process === undefined ? undefined : this.#weather?.denies,
    };
    const [, uploaded] = REQUEST_PATH.exec(url) ?? [];
    if (method === 'PUT' && uploaded !== undefined) this.#noteUpload(uploaded, process, outgoing);
    const answer = (): void => {
      if (this.#isDenied(method, url, trouble)) return deny(outgoing, trouble.denies);
      const other = method === 'POST' ? this.#otherJob(trouble) : undefined;
      if (other !== undefined) return this.#answerWith(other, incoming, outgoing);
      const theirs = THEIR_KEYS[String(key)];
      const isWhole = !Object.hasOwn(outgoing, 'end');
      const [, job] = RESULT_PATH.exec(url) ?? [];
      if (trouble.forgery && isWhole && job !== undefined)
        forge(outgoing, trouble.forgery, (sha256) => this.#noteForged(job, sha256));
      else
        changeBody(outgoing, (body) =>
          this.#change(incoming, body, { ...trouble, isWhole, isTheirs: theirs !== undefined }),
        );
      if (theirs === undefined) {
        if (process !== undefined && key !== undefined) headers['svc-api-key'] = this.#keyBehind(String(key));
        return proceed();
      }
      headers['svc-api-key'] = theirs;
      this.theirs?.(incoming, outgoing);
    };
    // A gateway responds before its service can do anything.
    if (trouble.denies === 'behind a gateway' && this.#isDenied(method, url, trouble))
      return deny(outgoing, trouble.denies);
    const [own, weather] = troubles;
    const through = (): void => (weather === undefined ? answer() : weather.faults(incoming, outgoing, answer));
    if (own === undefined) through();
    else own.faults(incoming, outgoing, through);
  };

  /** Sets what goes wrong for one process as long as it runs. */
  trouble(process: SimulatedProcess, faults: readonly string[], seed: number): void {
    if (faults.length > 0) this.#troubles.set(process, troubleOf(faults, seed));
  }

  /** Sets what goes wrong for every process until the next weather. */
  weather(faults: readonly string[], denies?: Denial): void {
    this.#acknowledged.clear();
    this.#older = new Set(this.kept().map(({ job }) => job));
    this.hasDenied ||= denies !== undefined || faults.length > 0;
    this.#weather = faults.length === 0 && !denies ? undefined : { ...troubleOf(faults, 1), denies };
  }

  /** Turns all completed jobs into failed ones. */
  failCompleted(): void {
    for (const job of this.#completed) this.failed.add(job);
  }

  /** Whether the weather has faults or denials now. */
  get isTroubled(): boolean {
    return this.#weather !== undefined;
  }

  /** Returns the sandbox key that stands for a key of the tenant: an expired one if the key was replaced. */
  #keyBehind(key: string): string {
    const [, kind, rotation = '0'] = /^(?:sandbox|rotated)-(private|management)-key(?:-(\d+))?$/.exec(key) ?? [];
    if (kind === undefined) return key;
    return `sandbox-${kind}-key${Number(rotation) === this.rotations ? '' : '-expired'}`;
  }

  #noteUpload(job: string, process: SimulatedProcess | undefined, outgoing: ServerResponse): void {
    if (process !== undefined && !this.isClaimed(job)) this.unclaimed.push(job);
    // A process may end with the response before the connection has taken all of it, which 'finish' would wait for.
    outgoing.once('prefinish', () => {
      if (outgoing.statusCode < 300) this.stored.add(job);
    });
  }

  #noteForged(job: string, sha256: string): void {
    this.forged.set(job, (this.forged.get(job) ?? new Set()).add(sha256));
  }

  /** Returns an existing job to send in place of a new one; undefined if the creation proceeds normally. */
  #otherJob({ isKnown, isReplayed }: Misfortune): Buffer | undefined {
    if (isReplayed) return this.#creation;
    const newest = isKnown ? this.#answers.get('/account-updater/jobs')?.at(-1) : undefined;
    const { data = [] } = JSON.parse(newest?.body.toString() ?? '{}') as { data?: Job[] };
    const ended = data.find(({ status }) => status !== 'pending');
    return ended && Buffer.from(JSON.stringify(ended));
  }

  #answerWith(job: Buffer, incoming: IncomingMessage, outgoing: ServerResponse): void {
    incoming.resume();
    outgoing.writeHead(201, { 'content-type': 'application/json', 'content-length': job.length }).end(job);
  }

  #isDenied(method: string, url: string, { denies }: Misfortune): boolean {
    const [, job] = JOB_PATH.exec(url) ?? [];
    if (job === undefined || method !== 'GET' || denies === undefined) return false;
    return denies === 'behind a gateway' || this.#denied(denies).has(job);
  }

  #denied(denies: Denial): ReadonlySet<string> {
    if (denies === 'behind a gateway') return this.#older;
    // A denied job stays denied even if its record changes.
    for (const { job, sent } of this.kept()) if (sent === 'stored') this.#acknowledged.add(job);
    return this.#acknowledged;
  }

  /** Forgets the denied jobs after the records changed, by a loss of power, a restored backup or damage. */
  recordsChanged(): void {
    this.#acknowledged.clear();
  }

  #change(
    { method = '', url = '' }: IncomingMessage,
    body: Buffer,
    trouble: Misfortune & { isWhole: boolean; isTheirs: boolean },
  ): Buffer {
    const { process, isStale, isWhole, isTheirs } = trouble;
    if (method === 'POST' && process !== undefined) {
      this.#tell(process, body);
      if (isWhole) this.#noteCreation(process, body);
    }
    const changed = /^\/logs(\?|$)/.test(url) ? this.#logs.page(body, process !== undefined) : body;
    if (method !== 'GET' || !url.startsWith('/account-updater/')) return changed;
    const [path = '', query = ''] = url.split('?');
    const shown = this.#show(changed, trouble);
    // No tenant gets an answer that another one got.
    const of = isTheirs ? `their ${path}` : path;
    const answers = this.#answers.get(of) ?? [];
    this.#answers.set(of, [...answers.slice(0, 3), { query, body: shown }]);
    const given = (isStale ? answers.find((answer) => mayAnswer(answer, query)) : undefined)?.body ?? shown;
    if (isWhole) this.#tell(process, given);
    return given;
  }

  #tell(process: SimulatedProcess | undefined, body: Buffer): void {
    if (process === undefined) return;
    const told = this.told.get(process) ?? new Map<string, string>();
    const { data, ...job } = JSON.parse(body.toString()) as Partial<Job> & { data?: Job[] };
    for (const { id, status = '' } of data ?? [job]) if (id !== undefined) told.set(id, status);
    this.told.set(process, told);
    const underWay = [...told].filter(([, status]) => status !== 'completed' && status !== 'failed').map(([id]) => id);
    this.toldUnderWay.set(process, new Set([...(this.toldUnderWay.get(process) ?? []), ...underWay]));
    const pending = [...told].filter(([, status]) => status === 'pending').map(([id]) => id);
    this.toldPending.set(process, new Set([...(this.toldPending.get(process) ?? []), ...pending]));
  }

  #noteCreation(process: SimulatedProcess, body: Buffer): void {
    const { id } = JSON.parse(body.toString()) as { id?: string };
    this.#creation = body;
    if (id !== undefined) this.created.set(process, [...(this.created.get(process) ?? []), id]);
  }

  /** Returns the body of a job or of a page of jobs, with failed jobs marked and denied jobs removed. */
  #show(body: Buffer, { process, denies }: Misfortune): Buffer {
    const shown = JSON.parse(body.toString()) as Job & { data?: Job[] };
    const jobs = shown.data ?? [shown];
    for (const job of jobs) {
      if (job.status !== 'completed') continue;
      // The jobs of other systems do not fail.
      const mayFail =
        process !== undefined &&
        !this.strangers.has(job.id) &&
        !this.#completed.has(job.id) &&
        this.failed.size < this.failing;
      if (mayFail) this.failed.add(job.id);
      this.#completed.add(job.id);
      if (!this.failed.has(job.id)) continue;
      delete job.download_url;
      Object.assign(job, { status: 'failed', errors: ['made up'] });
    }
    if (shown.data === undefined || denies === undefined) return Buffer.from(JSON.stringify(shown));
    const denied = this.#denied(denies);
    return Buffer.from(JSON.stringify({ ...shown, data: shown.data.filter(({ id }) => !denied.has(id)) }));
  }
}

/** The trouble of one exchange besides its faults. */
interface Misfortune {
  readonly process: SimulatedProcess | undefined;
  readonly isStale: boolean;
  readonly forgery: Forgery | undefined;
  readonly isKnown: boolean;
  readonly isReplayed: boolean;
  readonly denies: Denial | undefined;
}

interface Answer {
  readonly query: string;
  readonly body: Buffer;
}

/**
 * Tells whether an earlier response is what a lagging replica would send for a query. A page with a cursor for the next one only
 * fits its own query, because a cursor belongs to a page size.
 */
function mayAnswer({ query: earlier, body }: Answer, query: string): boolean {
  if (earlier === query) return true;
  if ([earlier, query].some((text) => new URLSearchParams(text).has('start'))) return false;
  const { data = [], pagination } = JSON.parse(body.toString()) as Page;
  const size = new URLSearchParams(query).get('size') ?? DEFAULT_PAGE_SIZE;
  return !pagination?.next && data.length <= Number(size);
}

interface Page {
  readonly data?: readonly Job[];
  readonly pagination?: { readonly next?: string | null };
}

interface Job {
  readonly id: string;
  readonly status?: string;
  download_url?: string;
}

function deny(outgoing: ServerResponse, denial: Denial | undefined): void {
  const body = denial === 'acknowledged' ? JSON.stringify({ title: 'Not Found', status: 404 }) : '<h1>Not here</h1>';
  const type = denial === 'acknowledged' ? 'application/problem+json' : 'text/html';
  outgoing.writeHead(404, { 'content-type': type, 'content-length': body.length }).end(body);
}

/** Passes the body of a successful response through a function, and corrects its length. */
function changeBody(outgoing: ServerResponse, change: (body: Buffer) => Buffer): void {
  const end = outgoing.end.bind(outgoing) as (chunk?: unknown) => ServerResponse;
  Object.assign(outgoing, {
    end(chunk?: unknown): ServerResponse {
      const isBody = typeof chunk === 'string' || chunk instanceof Uint8Array;
      if (!isBody || outgoing.statusCode >= 300) return end(chunk);
      const changed = change(Buffer.from(chunk));
      outgoing.setHeader('content-length', changed.length);
      return end(changed);
    },
  });
}

/** A fault whose effect the simulator adds, and the sandbox does not have. */
const PSEUDO = /^(stale|known|replayed|cut|foreign|doubled)@/;

function troubleOf(faults: readonly string[], seed: number): Trouble {
  const pseudo = faults.filter((fault) => PSEUDO.test(fault));
  return {
    faults: faultInterceptor(readAll(faults.filter((fault) => !PSEUDO.test(fault))), seed),
    pseudo: new FaultChooser(readAll(pseudo.map((fault) => fault.replace(PSEUDO, 'x-$1=1@'))), seed),
  };
}

function readAll(texts: readonly string[]): ReturnType<typeof readFaults>['faults'] {
  return readFaults(texts.join('\n')).faults;
}

/** Makes the store accept a second upload of a job, so that the simulator can detect it. */
export const acceptSecondUpload: Interceptor = ({ headers }, _outgoing, proceed) => {
  headers[ACCEPT_SECOND_PUT] = 'yes';
  proceed();
};
