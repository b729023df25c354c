import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { type Clock, systemClock } from '../../../src/base/system.ts';
import { main } from '../../../src/main.ts';

/** A request that reached the server. */
export interface Call {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

/** A server's reply to a call: a status and a JSON body, a broken connection, or silence. */
export type Reply = readonly [status: number, body: unknown] | 'torn' | 'silent';

/** A server that replies as scripted and records the calls. */
export class Scripted {
  readonly calls: Call[] = [];
  readonly #server: Server;
  #reply: (call: Call, index: number) => Reply = () => [404, {}];

  private constructor(server: Server) {
    this.#server = server;
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response));
  }

  static async start(): Promise<Scripted> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new Scripted(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Replaces the script and forgets the earlier calls. */
  play(reply: (call: Call, index: number) => Reply): void {
    this.calls.length = 0;
    this.#reply = reply;
  }

  /** The calls in the form `POST /path`. */
  get lines(): string[] {
    return this.calls.map(({ method, path }) => `${method} ${path}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat((await request.toArray()) as Buffer[]).toString();
    const call = {
      method: request.method ?? '',
      path: request.url ?? '',
      body: text === '' ? undefined : (JSON.parse(text) as unknown),
    };
    this.calls.push(call);
    const reply = this.#reply(call, this.calls.length - 1);
    if (reply === 'silent') return;
    if (reply === 'torn') return void request.socket.destroy();
    response.writeHead(reply[0], { 'content-type': 'application/json' }).end(JSON.stringify(reply[1]));
  }
}

/** The circumstances of a run of the tool inside the test process. */
export interface Run {
  readonly input?: string | Buffer | Readable;
  readonly server?: Scripted;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  readonly env?: Readonly<Record<string, string>>;
}

/** A home directory for runs of the tool inside the test process. */
export class Place {
  readonly path = mkdtempSync(join(tmpdir(), 'svc-3ds-'));

  /** Writes a file and returns its name. */
  file(name: string, content: unknown): string {
    const bytes = typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content);
    writeFileSync(join(this.path, name), bytes);
    return name;
  }

  /** Runs a command line inside the test process. */
  async svc(argv: readonly string[], run: Run = {}): Promise<{ code: number; stdout: string; stderr: string }> {
    const stdout = new PassThrough();
    const stderr = new PassThrough();
    const texts = Promise.all([gathered(stdout), gathered(stderr)]);
    const { input = '', server, clock = systemClock, signal = new AbortController().signal, env } = run;
    const account = server && {
      SVC_BASE_URL: server.url,
      SVC_PRIVATE_API_KEY: 'key_canary_0123456789',
      SVC_PACING: 'off',
    };
    const code = await main(argv, {
      env: { ...account, ...env },
      platform: 'linux',
      home: this.path,
      cwd: this.path,
      pid: 4242,
      nodeVersion: '20.19.0',
      stdin: input instanceof Readable ? input : Readable.from([Buffer.from(input)]),
      stdout,
      stderr,
      clock,
      signal,
      isAlive: () => false,
    });
    stdout.end();
    stderr.end();
    const [out, err] = await texts;
    return { code, stdout: out, stderr: err };
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

async function gathered(stream: Readable): Promise<string> {
  return Buffer.concat((await stream.toArray()) as Buffer[]).toString();
}
