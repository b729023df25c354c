import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = '/usr/sbin/mariadbd';

export const HAS_MARIADB = existsSync(PROGRAM);

/** A MariaDB server in a directory of its own, which only a socket there reaches. */
export class MariaDb {
  readonly #directory = mkdtempSync(join(tmpdir(), 'svc-maria-'));
  readonly #server: ChildProcess;

  private constructor() {
    const own = ['--no-defaults', `--datadir=${join(this.#directory, 'data')}`, '--user=root'];
    execFileSync('mariadb-install-db', [...own, '--auth-root-authentication-method=normal'], { stdio: 'pipe' });
    const settings = [...own, `--socket=${this.socket}`, '--skip-networking', '--secure-file-priv='];
    this.#server = spawn(PROGRAM, settings, { stdio: 'ignore' });
  }

  static async start(): Promise<MariaDb> {
    const mariaDb = new MariaDb();
    while (mariaDb.run('SELECT 1;').status !== 0) await setTimeout(100);
    return mariaDb;
  }

  get socket(): string {
    return join(this.#directory, 's');
  }

  /** Runs statements in a database for tests. */
  run(statements: string, ...argv: readonly string[]) {
    return spawnSync('mariadb', ['--no-defaults', `--socket=${this.socket}`, '--user=root', ...argv], {
      input: `CREATE DATABASE IF NOT EXISTS shop; USE shop;\n${statements}`,
      encoding: 'utf8',
    });
  }

  async stop(): Promise<void> {
    const ended = once(this.#server, 'exit');
    this.#server.kill('SIGTERM');
    await ended;
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
