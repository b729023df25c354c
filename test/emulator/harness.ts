import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../src/emulator/options.ts';
import type { AccountUpdaterJob } from '../../src/schema/account-updater.ts';
import { startSandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/directory.ts';

export const MANAGEMENT = { 'svc-api-key': 'sandbox-management-key' };
export const PRIVATE = { 'svc-api-key': 'sandbox-private-key' };

export const START = Date.parse('2026-03-01T12:00:00.000Z');

/** A clock that the test moves. */
export interface TestClock {
  ms: number;
  now(): number;
}

export function testClock(ms = START): TestClock {
  return {
    ms,
    now() {
      return this.ms;
    },
  };
}

/** Starts a sandbox that ends with its test. Its clock stands still unless moved, and its jobs complete at once. */
export async function sandbox(options: Partial<SandboxOptions> = {}) {
  const directory = options.directory ?? temporaryDirectory();
  const clock = testClock();
  const running = await startSandbox({ clock, processingMs: 0, logCount: 300, directory, ...options });
  onTestFinished(() => running.close());
  const call = (path: string, init: RequestInit = {}) => fetch(running.url + path, init);
  const json = async <Body>(path: string, init: RequestInit = {}) => (await (await call(path, init)).json()) as Body;
  const files = () => readdirSync(join(directory, 'files'));
  const createJob = async (): Promise<Job> => json<Job>('/account-updater/jobs', { method: 'POST', headers: PRIVATE });
  const readJob = async (id: string): Promise<Job> => json<Job>(`/account-updater/jobs/${id}`, { headers: PRIVATE });

  const process = async (body: string): Promise<Job> => {
    const job = await createJob();
    await upload(job, body);
    return readJob(job.id);
  };
  return { ...running, clock, directory, call, json, files, createJob, readJob, upload, process };
}

/** Puts a request file to a job's address. */
export function upload(job: Job, body: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(job.upload_url, { method: 'PUT', body, headers });
}

/** The body of a refusal. */
interface Problem {
  title: string;
  detail: string;
  status: number;
  errors?: Record<string, string[]>;
}

export async function problemOf(answer: Response): Promise<Problem> {
  return (await answer.json()) as Problem;
}

export interface JobPage {
  pagination: { next: string | null; page_size: number };
  data: Job[];
}

export type Job = AccountUpdaterJob & { upload_url: string; download_url: string };

export interface RawAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/** Sends a request whose framing the test decides. */
export function raw(
  url: string,
  options: { method: string; path?: string; headers?: Record<string, string | number>; chunks?: string[] },
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const { headers = {}, chunks = [], ...line } = options;
    const outgoing = request(url, { ...line, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer
        .on('data', (part: Buffer) => parts.push(part))
        .on('end', () => {
          resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(parts).toString() });
        });
      answer.on('error', reject);
    });
    outgoing.on('error', reject);
    for (const chunk of chunks) outgoing.write(chunk);
    outgoing.end();
  });
}
