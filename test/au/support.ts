import { readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { JobEvent } from '../../src/au/job/job.ts';
import { uploadToJob } from '../../src/au/job/upload.ts';
import { Client } from '../../src/client/api/client.ts';
import { fileSource } from '../../src/client/transfer/source.ts';
import { ACCEPT_SECOND_PUT } from '../../src/emulator/faults/fault.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import type { RunningSandbox } from '../../src/emulator/running-sandbox.ts';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { FakeClock } from '../support/clock.ts';
import { startSandbox } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/directory.ts';
import { captureResponse } from '../../src/emulator/faults/intercept.ts';

/** A client and a sandbox that share a clock, a request file, and the events of the client. */
export interface Bench {
  readonly client: Client;
  readonly clock: FakeClock;
  readonly sandbox: RunningSandbox;
  /** A request file with tokens of the sandbox. */
  readonly file: string;
  readonly events: JobEvent[];
  readonly abort: AbortController;
  path(name: string): string;
  /** Returns the number of uploads that the store accepted. */
  uploads(): number;
  /** Returns how often an endpoint was called. */
  calls(method: string, path: RegExp): number;
  close(): Promise<void>;
}

/** Handles a request: passes it on with `proceed`, or interferes with it. */
export type Fault = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void) => void;

export async function openBench(fault: Fault = (_incoming, _outgoing, proceed) => proceed()): Promise<Bench> {
  const directory = temporaryDirectory();
  const clock = new FakeClock({ start: Date.now() });
  const intercept: Interceptor = (incoming, outgoing, proceed) => {
    // The store accepts a second upload, so that a test can detect it.
    incoming.headers[ACCEPT_SECOND_PUT] = 'yes';
    fault(incoming, outgoing, proceed);
  };
  const sandbox = await startSandbox({ directory: join(directory, 'sandbox'), clock, intercept, pickupMs: 0 });
  const abort = new AbortController();
  const client = new Client({
    baseUrl: sandbox.url,
    privateKey: 'sandbox-private-key',
    clock,
    signal: abort.signal,
    pacing: false,
  });
  const file = join(directory, 'tokens.csv');
  writeFileSync(file, exampleRequestFile());
  const calls = (method: string, path: RegExp): number =>
    sandbox.ledger().filter((entry) => entry.method === method && path.test(entry.path)).length;
  return {
    client,
    clock,
    sandbox,
    file,
    abort,
    events: [],
    path: (name) => join(directory, name),
    uploads: () => sandbox.ledger().filter((entry) => entry.method === 'PUT' && entry.status === 200).length,
    calls,
    async close() {
      await client.close();
      await sandbox.close();
    },
  };
}

/** Creates a job, uploads the bench's file to it, and returns its id. */
export async function submitFile({ client, file, events }: Bench): Promise<string> {
  const job = await client.accountUpdater.create();
  const onEvent = (event: JobEvent): void => void events.push(event);
  await uploadToJob(client, job, await fileSource(file), { onEvent });
  events.length = 0;
  return job.id;
}

/**
 * Returns the job of each file that the store received, in order. They come from the sandbox's journal, because a
 * client that dies at the right moment leaves no status in the ledger.
 */
export function uploadsTaken(sandboxDirectory: string): string[] {
  const lines = readFileSync(join(sandboxDirectory, 'journal.jsonl'), 'utf8').split('\n').filter(Boolean);
  const events = lines.map((line) => JSON.parse(line) as { type: string; job: string });
  return events.flatMap(({ type, job }) => (type === 'upload' ? [job] : []));
}

/** Lets the request take effect, then closes the connection without a response. */
export function answerLost(_incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void): void {
  outgoing.end = () => {
    outgoing.socket?.destroy();
    return outgoing;
  };
  outgoing.write = () => true;
  outgoing.flushHeaders = () => undefined;
  proceed();
}

/** Lets the request take effect, then responds with another status. */
export function acceptThen(status: number): Fault {
  return (_incoming, outgoing, proceed) => {
    const end = outgoing.end.bind(outgoing);
    outgoing.end = () => {
      outgoing.statusCode = status;
      return end();
    };
    proceed();
  };
}

/** Reads the body, then responds with this status and body. */
export function refuseWith(status: number, body = ''): Fault {
  return (incoming, outgoing) => {
    incoming.resume().on('end', () => outgoing.writeHead(status, { 'content-type': 'application/xml' }).end(body));
  };
}

/** Applies the faults in turn to the matching requests. Once the faults are used up, requests succeed. */
export function inTurn(method: string, path: RegExp, ...faults: readonly Fault[]): Fault {
  const left = [...faults];
  return (incoming, outgoing, proceed) => {
    const fault = incoming.method === method && path.test(incoming.url ?? '') ? left.shift() : undefined;
    if (fault) fault(incoming, outgoing, proceed);
    else proceed();
  };
}

/** Changes the JSON of a response, which is to proceed then. */
export function changeJson(outgoing: ServerResponse, change: (answer: never) => unknown): void {
  captureResponse(outgoing, (body) => {
    const text = JSON.stringify(change(JSON.parse(body.toString()) as never));
    outgoing.setHeader('content-length', Buffer.byteLength(text)).end(text);
  });
}
