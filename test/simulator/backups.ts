import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { STATE } from './records.ts';

/** Copies of the state directory in a home, as it was before each command. */
export class Backups {
  readonly #state: string;
  readonly #directory: string;
  #count = 0;

  /** `directory` is outside of the home. */
  constructor(home: string, directory: string) {
    this.#state = join(home, STATE);
    this.#directory = directory;
  }

  keep(): void {
    this.#count += 1;
    if (existsSync(this.#state)) cpSync(this.#state, this.#copy(this.#count), { recursive: true });
  }

  /** Replaces the state directory with its copy from before the last `commands` commands. */
  restore(commands: number): void {
    const copy = this.#copy(Math.max(1, this.#count - commands + 1));
    rmSync(this.#state, { recursive: true, force: true });
    if (existsSync(copy)) cpSync(copy, this.#state, { recursive: true });
  }

  #copy(number: number): string {
    return join(this.#directory, String(number));
  }
}
