import type { ChildProcess } from 'node:child_process';
import { Writable } from 'node:stream';
import { startPager } from '../../base/security/child-process.ts';
import type { System } from '../../base/system.ts';

type PagerEnvironment = Pick<System, 'env' | 'platform' | 'stdout' | 'signal' | 'yieldTerminal'>;

/**
 * Standard output through a pager, which starts with the first text and reads the keyboard until the person quits. Quitting
 * early counts as a closed pipe, as with `| head`.
 */
export class Pager extends Writable {
  readonly isTTY = true;
  readonly #command: string;
  readonly #system: PagerEnvironment;
  #child: ChildProcess | undefined;
  #closed: Promise<void> | undefined;
  #ended = false;
  #bypassed = false;

  constructor(command: string, system: PagerEnvironment) {
    super({ decodeStrings: true });
    this.#command = command;
    this.#system = system;
  }

  get columns(): number {
    return this.#system.stdout.columns ?? 0;
  }

  /** Settles when the pager has ended; undefined before the pager starts. */
  get showing(): Promise<void> | undefined {
    return this.#closed;
  }

  /** Sends text directly to the terminal from now on, unless the pager has started. */
  bypass(): void {
    if (this.#bypassed || this.#child) return;
    this.#bypassed = true;
    this.#system.stdout.on('error', (error: Error) => this.destroy(error));
  }

  /** Ends the text, and waits until the person quits the pager. */
  async leave(): Promise<void> {
    this.#ended = true;
    this.#child?.stdin?.end();
    await this.#closed;
  }

  override _write(chunk: Buffer, _encoding: string, taken: (error?: Error | null) => void): void {
    if (this.#bypassed) {
      this.#system.stdout.write(chunk, taken);
      return;
    }
    const { stdin } = this.#start();
    if (stdin === null) taken(gone());
    else stdin.write(chunk, taken);
  }

  #start(): ChildProcess {
    if (this.#child) return this.#child;
    const { signal, yieldTerminal } = this.#system;
    const child = startPager(this.#command, this.#system);
    this.#child = child;
    // The end of the pager is handled below, so a failed write to it needs no handling.
    child.stdin.on('error', () => undefined);
    const ended = new Promise((resolve) => void child.once('close', resolve).once('error', resolve));
    this.#closed = ended.then(() => this.#left());
    yieldTerminal?.(this.#closed);
    const stop = (): void => this.#stop(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    void this.#closed.then(() => signal.removeEventListener('abort', stop));
    return child;
  }

  // Ctrl-C also reaches the pager, which stays open. On any other signal, svc must not wait for a person.
  #stop(reason: unknown): void {
    if (reason instanceof Error && 'code' in reason && reason.code === 'interrupted') return;
    this.#child?.kill('SIGTERM');
  }

  #left(): void {
    if (!this.#ended) this.destroy(gone());
  }
}

function gone(): Error {
  return Object.assign(new Error('the pager has gone'), { code: 'EPIPE' });
}
