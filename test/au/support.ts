import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunEvent } from '../../src/au/run/job.ts';
import { uploadToJob } from '../../src/au/run/upload.ts';
import { Client } from '../../src/client/api/client.ts';
import { fileSource } from '../../src/client/transfer/source.ts';
import { ACCEPT_SECOND_PUT } from '../../src/emulator/faults/fault.ts';
import type { Interceptor, RunningSandbox } from '../../src/emulator/options.ts';
import { startSandbox } from '../../src/emulator/server.ts';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { FakeClock } from '../support/clock.ts';

/** A client and a sandbox that share a clock, with a request file, and what happened between them. */
export interface Bench {
  readonly client: Client;
  readonly clock: FakeClock;
  readonly sandbox: RunningSandbox;
  /** A request file of the sandbox's own tokens. */
  readonly file: string;
  readonly events: RunEvent[];
  readonly abort: AbortController;
  path(name: string): string;
  /** How many uploads the store took. */
  uploads(): number;
  /** How often an endpoint was called. */
  calls(method: string, path: RegExp): number;
  close(): Promise<void>;
}

/** What to do to an exchange: nothing, or stand in its way. */
export type Fault = (incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void) => void;

export async function openBench(fault: Fault = (_incoming, _outgoing, proceed) => proceed()): Promise<Bench> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-runs-'));
  const clock = new FakeClock({ start: Date.now() });
  const intercept: Interceptor = (incoming, outgoing, proceed) => {
    // A second upload must be seen, so the store accepts it.
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
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Creates a job, uploads the bench's file to it, and gives its id. */
export async function submitFile({ client, file, events }: Bench): Promise<string> {
  const job = await client.accountUpdater.create();
  const onEvent = (event: RunEvent): void => void events.push(event);
  await uploadToJob(client, job, await fileSource(file), { onEvent });
  events.length = 0;
  return job.id;
}

/**
 * The jobs that got a file, once for each file, in order: from the sandbox's own journal, since a client that dies at
 * the right moment leaves no status in the ledger.
 */
export function uploadsTaken(sandboxDirectory: string): string[] {
  const lines = readFileSync(join(sandboxDirectory, 'journal.jsonl'), 'utf8').split('\n').filter(Boolean);
  const events = lines.map((line) => JSON.parse(line) as { type: string; job: string });
  return events.flatMap(({ type, job }) => (type === 'upload' ? [job] : []));
}

/** Lets the request take effect, then cuts the line instead of answering. */
export function answerLost(_incoming: IncomingMessage, outgoing: ServerResponse, proceed: () => void): void {
  outgoing.end = () => {
    outgoing.socket?.destroy();
    return outgoing;
  };
  outgoing.write = () => true;
  outgoing.flushHeaders = () => undefined;
  proceed();
}

/** Lets the request take effect, then answers with another status. */
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

/** Takes the body and answers with this. */
export function refuseWith(status: number, body = ''): Fault {
  return (incoming, outgoing) => {
    incoming.resume().on('end', () => outgoing.writeHead(status, { 'content-type': 'application/xml' }).end(body));
  };
}

/** Applies the faults in turn to the requests of this method; once they are used up, all goes well. */
export function inTurn(method: string, path: RegExp, ...faults: readonly Fault[]): Fault {
  const left = [...faults];
  return (incoming, outgoing, proceed) => {
    const fault = incoming.method === method && path.test(incoming.url ?? '') ? left.shift() : undefined;
    if (fault) fault(incoming, outgoing, proceed);
    else proceed();
  };
}
