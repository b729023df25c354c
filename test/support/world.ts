import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SvcError } from '../../src/base/errors.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { FakeClock } from './clock.ts';
import { COMMAND_LINES, LASTING } from './command-lines.ts';
import { type HereOptions, type HereResult, svcIn } from './run-here.ts';
import { finished, type Finished, LAUNCHER } from './svc.ts';
import { startSandbox } from './sandbox.ts';

const MANAGEMENT_KEY = 'sandbox-management-key';
const PRIVATE_KEY = 'sandbox-private-key';

/** Responds to the requests of a command in place of the sandbox. */
export type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** How a command is run in a world. */
export interface WorldOptions extends Pick<HereOptions, 'env' | 'input' | 'stdout' | 'clock' | 'columns'> {
  /** Responds in place of the sandbox, which is then not started. */
  readonly respond?: Respond;
  /** Responds in place of the sandbox to some requests, and returns whether it did. */
  readonly intercept?: (...exchange: Parameters<Respond>) => boolean;
  /** The words to run instead of the command's line in `COMMAND_LINES`. */
  readonly argv?: readonly string[];
}

type Run = (words: string, more?: readonly string[], options?: WorldOptions) => Promise<HereResult>;

/**
 * A home directory with everything that commands need: files, an archive, jobs, sessions, a profile and a
 * sandbox. Every command runs in a fresh copy of the directory, with the same base URL.
 */
export class World {
  readonly #template = mkdtempSync(join(tmpdir(), 'svc-world-'));
  readonly #names = new Map<string, string>();
  /** The server at the base URL. Forwards requests to a sandbox, or responds as the test specifies. */
  #front!: Server;
  #respond: Respond = refuse;
  /** Whether the store takes no file now. */
  #refusesFiles = false;
  /** The requests that reached this world, in order. */
  readonly requests: { readonly method: string; readonly path: string }[] = [];

  static async prepare(): Promise<World> {
    const world = new World();
    world.#front = createServer((incoming, response) => {
      world.requests.push({ method: incoming.method ?? '', path: incoming.url ?? '' });
      world.#respond(incoming, response);
    });
    world.#front.listen(0, '127.0.0.1');
    await once(world.#front, 'listening');
    await world.#fill();
    return world;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#front.address() as AddressInfo).port}`;
  }

  /** Returns the words of a command's line in `COMMAND_LINES`, with this world's ids in place of `{job}` and the like. */
  argv(words: string): string[] {
    const line = COMMAND_LINES[words];
    if (line === undefined) throw new Error(`svc ${words} has no line in test/support/command-lines.ts`);
    return line.split(' ').map((word) => this.fill(word));
  }

  /** Replaces placeholders such as `{job}` in a word with the ids of this world. */
  fill(word: string): string {
    return word.replaceAll(/\{([a-z-]+)\}/g, (_, name: string) => this.#name(name));
  }

  /** Runs a command in a copy of this world. A command that would run forever is terminated after 100 ms. */
  async run(words: string, more?: readonly string[], options?: WorldOptions): Promise<HereResult> {
    return this.copy((run) => run(words, more, options));
  }

  /** Passes `work` a copy of this world, in which it can run several commands one after the other. */
  async copy<T>(work: (run: Run, directory: string) => Promise<T>): Promise<T> {
    const directory = this.#copyOfTemplate();
    try {
      const run: Run = (words, more = [], options = {}) => this.#runIn(directory, words, more, options);
      return await work(run, directory);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  /**
   * Runs a command through bash in a copy of this world. `redirection` is shell syntax to append to the command line;
   * `program` starts the tool, by default the build in this directory.
   */
  async shell(
    words: string,
    more: readonly string[],
    redirection: string,
    program: readonly string[] = [process.execPath, LAUNCHER],
  ): Promise<Finished> {
    const directory = this.#copyOfTemplate();
    try {
      const quoted = [...program, ...withOptions(this.argv(words), more)].map((word) => `'${word}'`).join(' ');
      return await this.#withSandbox(directory, () => this.#spawn(directory, `${quoted} ${redirection}`));
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    this.#front.closeAllConnections();
    this.#front.close();
    await once(this.#front, 'close');
    rmSync(this.#template, { recursive: true, force: true });
  }

  #copyOfTemplate(): string {
    const directory = mkdtempSync(join(tmpdir(), 'svc-copy-'));
    cpSync(this.#template, directory, { recursive: true });
    // Newer versions of Node.js do not copy the permissions of directories.
    chmodSync(join(directory, '.config/svc'), 0o700);
    return directory;
  }

  async #spawn(directory: string, line: string): Promise<Finished> {
    const child = spawn('bash', ['-c', line], {
      cwd: directory,
      env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', HOME: directory, ...this.#environment() },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.on('error', () => undefined);
    child.stdin.end(`${MANAGEMENT_KEY}\n`);
    return finished(child);
  }

  #environment(): Record<string, string> {
    return {
      SVC_BASE_URL: this.url,
      SVC_MANAGEMENT_API_KEY: MANAGEMENT_KEY,
      SVC_PRIVATE_API_KEY: PRIVATE_KEY,
      SVC_PACING: 'off',
    };
  }

  async #runIn(
    directory: string,
    words: string,
    more: readonly string[],
    { respond, intercept, argv = this.argv(words), ...options }: WorldOptions,
  ): Promise<HereResult> {
    const line = withOptions(argv, more);
    const run = (): Promise<HereResult> => {
      const forwardTo = this.#respond;
      if (intercept !== undefined)
        this.#respond = (...exchange) => (intercept(...exchange) ? undefined : forwardTo(...exchange));
      return this.#svc(directory, line, words, options);
    };
    if (respond === undefined) return this.#withSandbox(directory, run);
    this.#respond = respond;
    return run();
  }

  #name(name: string): string {
    const value = name === 'url' ? this.url : this.#names.get(name);
    if (value === undefined) throw new Error(`the world has no {${name}}`);
    return value;
  }

  async #withSandbox<T>(directory: string, work: () => Promise<T>): Promise<T> {
    const state = join(directory, 'sandbox');
    const intercept: Interceptor = ({ method }, outgoing, proceed) =>
      this.#refusesFiles && method === 'PUT' ? outgoing.writeHead(403).end() : proceed();
    const sandbox = await startSandbox({ directory: state, processingMs: 0, pickupMs: 0, logCount: 60, intercept });
    this.#respond = (incoming, response) => forward(incoming, response, sandbox.port);
    try {
      return await work();
    } finally {
      await sandbox.close();
    }
  }

  async #svc(directory: string, argv: readonly string[], words: string, options: WorldOptions): Promise<HereResult> {
    const termination = new AbortController();
    if (LASTING.has(words) || (words === 'logs tail' && !argv.includes('--max')))
      setTimeout(() => termination.abort(new SvcError('terminated', 'ended by SIGTERM')), 100);
    return svcIn(directory, argv, {
      clock: new FakeClock({ start: Date.now(), runs: true }),
      signal: termination.signal,
      input: `${MANAGEMENT_KEY}\n`,
      ...options,
      env: { ...this.#environment(), ...options.env },
    });
  }

  async #fill(): Promise<void> {
    const directory = this.#template;
    const rows = exampleRequestFile().trimEnd().split('\n');
    writeFileSync(join(directory, 'tokens.csv'), `${rows.join('\n')}\n`);
    writeFileSync(join(directory, 'other.csv'), `${rows.slice(0, -1).join('\n')}\n`);
    writeFileSync(join(directory, 'open.csv'), `${rows.slice(0, -2).join('\n')}\n`);
    writeFileSync(join(directory, 'export.csv'), `${rows.slice(0, -3).join('\n')}\n`);
    writeFileSync(join(directory, 'upload.csv'), `${rows[0]}\nanother,,,\n`);
    writeFileSync(join(directory, 'unsent.csv'), `${rows[0]}\nunsent,,,\n`);
    const event = { received_at: '2026-01-05T12:00:00.000Z', id: 'e', type: 't', headers: {}, body: '{}' };
    writeFileSync(join(directory, 'events.jsonl'), `${JSON.stringify(event)}\n`);
    await this.#withSandbox(directory, async () => {
      const print = async (line: string): Promise<unknown> => this.#print(directory, line);
      const saveId = async (name: string, line: string, path = 'id'): Promise<void> => {
        this.#names.set(name, String(valueAt(await print(line), path)));
      };
      writeFileSync(join(directory, 'body.json'), JSON.stringify(await print('3ds template payment-transaction')));
      // Before any job: its end is logged without an actor, and whether the archive has that entry would depend on the time.
      await print('logs archive audit');
      await saveId('tenant', 'tenant show');
      writeFileSync(join(directory, 'tenant.yaml'), JSON.stringify(await print('tenant export')));
      await saveId('card', 'sandbox cards --3ds', '0.token');
      const scenario = { name: 'frictionless', token: this.#name('card'), expect: 'successful' };
      writeFileSync(join(directory, 'suite.yaml'), JSON.stringify({ scenarios: [scenario] }));
      const create = `3ds create --token ${this.#name('card')} --type customer`;
      await saveId('authenticated', create);
      await print(`3ds authenticate ${this.#name('authenticated')} --file body.json`);
      await saveId('session', create);
      await saveId('done', 'au submit tokens.csv --wait --out results.csv', 'job');
      await saveId('open', 'au submit open.csv --cycle 2026-11 --pay-again', 'job');
      await saveId('unsent', 'au create');
      this.#refusesFiles = true;
      await this.#svc(directory, ['au', 'upload', this.#name('unsent'), 'unsent.csv'], '', {});
      this.#refusesFiles = false;
      await saveId('job', 'au create');
      await saveId('foreign', 'au create');
      await print('profile set output json --profile spare');
    });
  }

  async #print(directory: string, line: string): Promise<unknown> {
    const { code, stdout, stderr } = await this.#svc(directory, [...line.split(' '), '-o', 'json'], '', {});
    if (code !== 0) throw new Error(`svc ${line} ended with ${code}: ${stderr}`);
    return stdout === '' ? undefined : (JSON.parse(stdout) as unknown);
  }
}

/** Inserts options before `--`, because the words after it belong to another program. */
function withOptions(argv: readonly string[], options: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return end === -1 ? [...argv, ...options] : [...argv.slice(0, end), ...options, ...argv.slice(end)];
}

/** Forwards a request to the sandbox at `port`, except a delivered webhook, which it accepts. */
function forward(incoming: IncomingMessage, response: ServerResponse, port: number): void {
  if (incoming.url === '/hooks') {
    incoming.resume();
    response.writeHead(204).end();
    return;
  }
  const { method, url, rawHeaders } = incoming;
  const forwarded = request({ port, host: '127.0.0.1', method, path: url, headers: rawHeaders }, (upstream) => {
    response.writeHead(upstream.statusCode ?? 500, upstream.rawHeaders);
    upstream.pipe(response);
  });
  forwarded.on('error', () => response.destroy());
  incoming.pipe(forwarded);
}

function refuse(incoming: IncomingMessage, response: ServerResponse): void {
  incoming.resume();
  response.writeHead(503).end();
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => new Map(Object.entries(inner ?? {})).get(key), value);
}
