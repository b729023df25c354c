import type { IncomingMessage, ServerResponse } from 'node:http';
import { type RunPart, sentOf } from '../../src/account-updater/record.ts';
import { ACCEPT_SECOND_PUT, FaultChooser, readFaults } from '../../src/sandbox/faults/fault.ts';
import { captureResponse, faultInterceptor } from '../../src/sandbox/faults/intercept.ts';
import type { Interceptor } from '../../src/sandbox/options.ts';
import type { SimulatedProcess } from './context.ts';
import { LogOverlay } from './log-overlay.ts';
import { jobsOf } from './records.ts';
import type { Time } from './time.ts';
import { Wire } from './wire.ts';

/** Keys of the other tenant, at the same address: its service takes over what they come with. */
const THEIR_KEYS: Readonly<Record<string, string>> = {
  'their-private-key': 'sandbox-private-key',
  'their-management-key': 'sandbox-management-key',
};

const JOB_PATH = /^\/account-updater\/jobs\/([^/?]+)$/;

/** Which jobs are denied, in reads and lists alike, while that lasts. */
export type Denial =
  /** By the service itself: those whose upload it acknowledged, as far as it is on record. */
  | 'acknowledged'
  /** A gateway has a page for each of them, and the list is one that lacks those that were on record then. */
  | 'behind a gateway';

interface Trouble {
  readonly faults: Interceptor;
  readonly pseudo: FaultChooser;
}

interface Weather extends Trouble {
  readonly denies?: Denial | undefined;
}

/** Stands between processes and the service: each process has faults of its own. */
export class Adversary {
  readonly #troubles = new WeakMap<SimulatedProcess, Trouble>();
  #weather: Weather | undefined;
  readonly #logs: LogOverlay;
  /** What the service answered, by method and address, the newest last. */
  readonly #answers = new Map<string, Buffer[]>();
  /** What must never be seen on the wire. */
  readonly leaks: string[] = [];
  /** Jobs whose creation a process learned of, in a response that nothing befell. */
  readonly created = new WeakMap<SimulatedProcess, string[]>();
  /** How many jobs fail, of those with a file that come to their end first. */
  failing = 0;
  /** Those that did: nobody pays for them. */
  readonly failed = new Set<string>();
  readonly #completed = new Set<string>();
  readonly #acknowledged = new Set<string>();
  /** Those on record when the weather began. */
  #older: ReadonlySet<string> = new Set();
  /** The parts of all runs, as they are on record now. */
  recorded: () => readonly RunPart[] = () => [];
  /** Takes the requests of the other tenant. */
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
    // A bystander meets no trouble.
    const troubles = process === undefined ? [] : [this.#troubles.get(process), this.#weather];
    const pseudo = troubles.map((trouble) => trouble?.pseudo.choose(method, url)?.headers ?? {});
    const trouble: Misfortune = {
      process,
      isStale: pseudo.some((headers) => 'x-stale' in headers),
      isCut: pseudo.some((headers) => 'x-cut' in headers),
      denies: process === undefined ? undefined : this.#weather?.denies,
    };
    const answer = (): void => {
      if (this.#isDenied(method, url, trouble)) return deny(outgoing, trouble.denies);
      const isWhole = !Object.hasOwn(outgoing, 'end');
      if (trouble.isCut && isWhole && url.startsWith('/store/results/')) cutBody(outgoing);
      else changeBody(outgoing, (body) => this.#change(incoming, body, { ...trouble, isWhole }));
      const theirs = THEIR_KEYS[String(key)];
      if (theirs === undefined) return proceed();
      headers['svc-api-key'] = theirs;
      this.theirs?.(incoming, outgoing);
    };
    // A gateway comes before all that its service may do.
    if (trouble.denies === 'behind a gateway' && this.#isDenied(method, url, trouble))
      return deny(outgoing, trouble.denies);
    const [own, weather] = troubles;
    const through = (): void => (weather === undefined ? answer() : weather.faults(incoming, outgoing, answer));
    if (own === undefined) through();
    else own.faults(incoming, outgoing, through);
  };

  /** What goes wrong for a process, from its start to its end. */
  trouble(process: SimulatedProcess, faults: readonly string[], seed: number): void {
    if (faults.length > 0) this.#troubles.set(process, troubleOf(faults, seed));
  }

  /** What goes wrong for every process from now on. */
  weather(faults: readonly string[], denies?: Denial): void {
    this.#acknowledged.clear();
    this.#older = new Set(this.recorded().flatMap(jobsOf));
    this.#weather = faults.length === 0 && !denies ? undefined : { ...troubleOf(faults, 1), denies };
  }

  /** Whether anything goes wrong for every process. */
  get isTroubled(): boolean {
    return this.#weather !== undefined;
  }

  #isDenied(method: string, url: string, { denies }: Misfortune): boolean {
    const [, job] = JOB_PATH.exec(url) ?? [];
    if (job === undefined || method !== 'GET' || denies === undefined) return false;
    return denies === 'behind a gateway' || this.#denied(denies).has(job);
  }

  #denied(denies: Denial): ReadonlySet<string> {
    if (denies === 'behind a gateway') return this.#older;
    // Once denied, they stay so, whatever comes on record.
    for (const part of this.recorded())
      if (sentOf(part) === 'stored' && part.job !== undefined) this.#acknowledged.add(part.job);
    return this.#acknowledged;
  }

  /** The machine lost its power: what is on record counts anew. */
  recordsChanged(): void {
    this.#acknowledged.clear();
  }

  #change(
    { method = '', url = '' }: IncomingMessage,
    body: Buffer,
    trouble: Misfortune & { isWhole: boolean },
  ): Buffer {
    const { process, isStale, isWhole } = trouble;
    if (method === 'POST' && isWhole && process !== undefined) this.#noteCreation(process, body);
    const changed = /^\/logs(\?|$)/.test(url) ? this.#logs.page(body, process !== undefined) : body;
    if (method !== 'GET' || !url.startsWith('/account-updater/')) return changed;
    const [path = ''] = url.split('?');
    const shown = this.#show(changed, trouble);
    const answers = this.#answers.get(path) ?? [];
    this.#answers.set(path, [...answers.slice(0, 3), shown]);
    return (isStale ? answers[0] : undefined) ?? shown;
  }

  #noteCreation(process: SimulatedProcess, body: Buffer): void {
    const { id } = JSON.parse(body.toString()) as { id?: string };
    if (id !== undefined) this.created.set(process, [...(this.created.get(process) ?? []), id]);
  }

  /** A job, or a page of jobs, with those failed that are to fail, and without those that are denied. */
  #show(body: Buffer, { process, denies }: Misfortune): Buffer {
    const shown = JSON.parse(body.toString()) as Job & { data?: Job[] };
    const jobs = shown.data ?? [shown];
    for (const job of jobs) {
      if (job.status !== 'completed') continue;
      // Those of bystanders were there before.
      const mayFail = process !== undefined && !this.#completed.has(job.id) && this.failed.size < this.failing;
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

/** What befalls one exchange beside its faults. */
interface Misfortune {
  readonly process: SimulatedProcess | undefined;
  readonly isStale: boolean;
  readonly isCut: boolean;
  readonly denies: Denial | undefined;
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

/** Leaves out the last rows of a file; the length that the head names is that of what is left. */
function cutBody(outgoing: ServerResponse): void {
  captureResponse(outgoing, (body) => {
    const left = body.subarray(0, body.lastIndexOf('\n', body.length / 2) + 1);
    outgoing.setHeader('content-length', left.length);
    outgoing.end(left);
  });
}

/** Has what a response is ended with, and its length, go through a function. */
function changeBody(outgoing: ServerResponse, change: (body: Buffer) => Buffer): void {
  const end = outgoing.end.bind(outgoing) as (chunk?: unknown) => ServerResponse;
  Object.assign(outgoing, {
    end(chunk?: unknown): ServerResponse {
      if (!(chunk instanceof Uint8Array) || outgoing.statusCode >= 300) return end(chunk);
      const changed = change(Buffer.from(chunk));
      outgoing.setHeader('content-length', changed.length);
      return end(changed);
    },
  });
}

/** Effects beyond those of the tool, by their names here. */
const PSEUDO = /^(stale|cut)@/;

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

/** A second upload must be seen, so the store accepts it. */
export const acceptSecondUpload: Interceptor = ({ headers }, _outgoing, proceed) => {
  headers[ACCEPT_SECOND_PUT] = 'yes';
  proceed();
};
