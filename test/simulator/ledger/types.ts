/** Minutes. The model counts no smaller unit. */
export const HOUR = 60;
export const DAY = 24 * HOUR;

/** How long a service remembers a job with a file at least, so that a list without the job proves something. */
export const KEPT = 7 * DAY;

export type Status = 'pending' | 'processing' | 'completed' | 'failed';

/** A row is a number. Numbers from 100 on are new tokens that results made. */
export type Row = number;

export interface NewJob {
  readonly id: string;
  readonly created: number;
  readonly expires: number;
}

export type Entry = { readonly id: string; readonly n: number } & (
  | {
      readonly kind: 'claim';
      readonly job: string;
      readonly created: number;
      readonly expires: number;
      readonly rows: readonly Row[];
      readonly at: number;
    }
  | { readonly kind: 'done'; readonly job: string; readonly rows: readonly Row[]; readonly born: readonly Row[] }
  | {
      readonly kind: 'release';
      readonly job: string;
      readonly rows: readonly Row[];
      readonly why: 'failed' | 'gone' | 'operator';
    }
  | { readonly kind: 'moved' }
);

export type Claim = Extract<Entry, { kind: 'claim' }>;

/** A list of jobs, newest first, in pages. */
export class JobList extends Map<string, Status> {
  /** The page that each job is on. The end of the list has no id. */
  readonly pages = new Map<string, number>();
  /** For each two pages, the last job of the first one and the first job of the second one, and when they were created. */
  readonly borders: { readonly ids: readonly [string, string]; readonly last: number; readonly first: number }[] = [];
}

/** What a machine does to the world outside its process, one step at a time. */
export type Step =
  | { readonly what: 'disk'; readonly act: () => void }
  | { readonly what: 'sleep'; readonly minutes: number }
  | { readonly what: 'post' }
  | { readonly what: 'read'; readonly job: string }
  | { readonly what: 'list'; readonly size: number }
  | { readonly what: 'put'; readonly job: string; readonly rows: readonly Row[]; readonly began: number }
  | { readonly what: 'create'; readonly name: string; readonly body: Entry }
  | { readonly what: 'get'; readonly name: string }
  | { readonly what: 'cycles'; readonly place: string };

/** `lost` stands for a request without a response, `server error` for a 5xx, which may have acted. */
export type Response =
  | 'lost'
  | 'server error'
  | 'forbidden'
  | 'missing'
  | 'created'
  | 'exists'
  | 'stored'
  | 'refused'
  | undefined
  | Status
  | NewJob
  | Entry
  | JobList
  | readonly string[];

/** A machine's work is a generator: between any two steps another machine may run, time may pass, or it may be killed. */
export type Steps<T> = Generator<Step, T, Response>;

/** How much of a part was sent to its job, as recorded before each step; `gone` for a job that the record let go. */
export type Sent = 'none' | 'some' | 'all' | 'stored' | 'gone';

/** What a state directory remembers. */
export interface Disk {
  /** The entries that were read, by place and cycle. */
  entries: Record<string, Entry[]>;
  /** How much of each part was sent to the job that this directory claimed. */
  parts: Record<string, Sent>;
  /** Whether the directory began to use the shared ledger. */
  at?: 'shared' | undefined;
}

export interface Machine {
  readonly name: string;
  /** The error of the machine's clock in minutes. */
  readonly clock: number;
  readonly mayWrite: boolean;
  /** The machine's setting: the shared ledger, or one in its own directory. */
  ledger: 'shared' | 'local';
  /** Machines with the same directory are processes of one machine. */
  directory: { readonly name: string; disk: Disk; readonly kept: Disk[]; readonly locks: Map<string, Machine> };
  running: Running | undefined;
  wake: number;
}

export interface Order {
  readonly rows: readonly Row[];
  readonly cycle: string;
  readonly wait: boolean;
}

export interface Running {
  readonly order: Order;
  readonly steps: Steps<Ending>;
  readonly started: number;
  response: Response;
  /** Whether some request of the command got no response, or one that says nothing. */
  unanswered: boolean;
}

export interface Ending {
  readonly code: 0 | 3 | 8 | 9 | 10 | 11;
  readonly seen: ReadonlyMap<string, Response>;
}
