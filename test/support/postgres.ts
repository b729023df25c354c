import { type ChildProcessByStdio, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { type Finished, finished } from './svc.ts';

const VERSIONS = '/usr/lib/postgresql';

/** The programs of the newest PostgreSQL that Debian's packages installed; undefined if there is none. */
export const POSTGRES_PROGRAMS = existsSync(VERSIONS)
  ? readdirSync(VERSIONS)
      .toSorted((a, b) => Number(b) - Number(a))
      .map((version) => join(VERSIONS, version, 'bin'))
      .find((programs) => existsSync(join(programs, 'initdb')))
  : undefined;

/** A PostgreSQL server in a directory of its own, which only a socket there reaches. */
export class Postgres {
  readonly #directory: string;
  readonly #server: ChildProcessByStdio<null, null, Readable>;
  readonly #ended: Promise<unknown>;

  private constructor(directory: string, server: ChildProcessByStdio<null, null, Readable>) {
    this.#directory = directory;
    this.#server = server;
    this.#ended = once(server, 'exit');
  }

  static async start(): Promise<Postgres> {
    const directory = mkdtempSync(join(tmpdir(), 'svc-pg-'));
    // PostgreSQL refuses to run as root, and Debian's package brings a user for it.
    const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
    if (user.uid !== undefined) chownSync(directory, user.uid, user.gid);
    chmodSync(directory, 0o700);
    const data = join(directory, 'data');
    const options = { ...user, cwd: directory, env: { LANG: 'C.UTF-8', PATH: '/usr/bin:/bin' } };
    const init = ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
    execFileSync(program('initdb'), init, { ...options, stdio: 'pipe' });
    const settings = ['-D', data, '-k', directory, '-c', 'listen_addresses=', '-F'];
    const server = spawn(program('postgres'), settings, { ...options, stdio: ['ignore', 'ignore', 'pipe'] });
    const postgres = new Postgres(directory, server);
    await postgres.#accepts();
    return postgres;
  }

  /** The environment in which psql finds this server. */
  get env(): Record<string, string> {
    const path = `${POSTGRES_PROGRAMS}:${process.env['PATH']}`;
    return { PATH: path, PGHOST: this.#directory, PGUSER: 'svc', PGDATABASE: 'postgres' };
  }

  /** Starts psql, which leaves its input open. */
  start(...argv: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable> {
    const words = ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', ...argv];
    return spawn(program('psql'), words, { cwd: this.#directory, env: this.env, stdio: ['pipe', 'pipe', 'pipe'] });
  }

  /** Runs psql to its end. */
  run(input: string, ...argv: readonly string[]): Promise<Finished> {
    const child = this.start(...argv);
    // A psql that runs a statement may end before its input does.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    return finished(child);
  }

  /** Returns the rows of a statement as lines, with `|` between the cells. */
  async lines(statement: string): Promise<string[]> {
    const { code, stdout, stderr } = await this.run('', '-c', statement);
    if (code !== 0) throw new Error(stderr);
    return stdout.split('\n').filter((line) => line !== '');
  }

  async stop(): Promise<void> {
    this.#server.kill('SIGINT');
    await this.#ended;
    rmSync(this.#directory, { recursive: true, force: true });
  }

  async #accepts(): Promise<void> {
    let said = '';
    await new Promise<void>((resolve, reject) => {
      this.#server.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-10_000);
        if (said.includes('ready to accept connections')) resolve();
      });
      void this.#ended.then(() => reject(new Error(`PostgreSQL did not start: ${said}`)));
    });
  }
}

function program(name: string): string {
  return join(POSTGRES_PROGRAMS ?? '', name);
}

function idOf(option: string): number {
  return Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' }));
}
