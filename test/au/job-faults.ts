import { STATUS_CODES } from 'node:http';
import type { Interceptor } from '../../src/emulator/options.ts';
import { changeJson } from './support.ts';

/** A job as the service shows it. */
export type ShownJob = Readonly<Record<string, unknown>> & { readonly id: string };

/** What the service says of jobs, which a test can change at any time. */
export class JobFaults {
  /** Jobs that neither reads nor lists show. */
  forgotten: readonly string[] = [];
  /** Jobs that are said to have failed. */
  failed: readonly string[] = [];
  /** Changes a job in each response that shows it. */
  say?: ((job: ShownJob) => object) | undefined;
  /** Returns the status with which a request is refused, such as 503. */
  refuse?: ((method: string, url: string) => number | undefined) | undefined;

  /** Lets the service say what is true again. */
  clear(): void {
    Object.assign(this, { forgotten: [], failed: [], say: undefined, refuse: undefined });
  }

  readonly intercept: Interceptor = (incoming, outgoing, proceed) => {
    const { method = '', url = '' } = incoming;
    const id = jobReadBy(method, url);
    const status = this.refuse?.(method, url) ?? (id !== undefined && this.forgotten.includes(id) ? 404 : undefined);
    if (status !== undefined) {
      incoming.resume();
      outgoing.writeHead(status, { 'content-type': 'application/problem+json' });
      return void outgoing.end(JSON.stringify({ title: STATUS_CODES[status], status }));
    }
    if (id !== undefined) changeJson(outgoing, (job: ShownJob) => this.#shown(job));
    if (isJobList(method, url))
      changeJson(outgoing, (list: { readonly data?: readonly ShownJob[] }) => ({
        ...list,
        data: list.data?.filter((job) => !this.forgotten.includes(job.id)).map((job) => this.#shown(job)),
      }));
    proceed();
  };

  #shown(job: ShownJob): object {
    const shown = this.failed.includes(job.id) ? { ...job, status: 'failed', errors: ['made up'] } : job;
    return this.say?.(shown) ?? shown;
  }
}

/** Returns the id of the job that a request reads. */
export function jobReadBy(method: string, url: string): string | undefined {
  return method === 'GET' ? /\/account-updater\/jobs\/([^/?]+)$/.exec(url)?.[1] : undefined;
}

/** Tells whether a request is for a list of jobs. */
export function isJobList(method: string, url: string): boolean {
  return method === 'GET' && /\/account-updater\/jobs(?:\?|$)/.test(url);
}
