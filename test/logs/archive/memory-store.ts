import fs from 'node:fs';
import { SvcError } from '../../../src/base/errors.ts';
import { isLocalFile, type LocalFile, type Store, type StoredFile } from '../../../src/client/store/store.ts';
import { Killed } from '../model.ts';

/** The moment of the process's death: before or after the nth change of the store. */
export interface Death {
  readonly change: number;
  readonly when: 'before' | 'after';
}

/** An archive in memory. The modeled process can die between any two changes. */
export class MemoryStore implements Store {
  readonly name = 'memory';
  readonly workDirectory: string;
  readonly isRemote = false;
  readonly files = new Map<string, Buffer>();
  /** The number of changes made or begun. */
  changes = 0;
  death: Death | undefined;
  /** Called before a file is created, which an error prevents. */
  onCreate: (path: string) => void = () => undefined;

  constructor(workDirectory: string) {
    this.workDirectory = workDirectory;
  }

  async *list(prefix: string, after = ''): AsyncGenerator<StoredFile> {
    const paths = [...this.files.keys()].filter((path) => path.startsWith(prefix) && path > after).toSorted();
    for (const path of paths) yield { path, bytes: this.files.get(path)?.length ?? 0 };
  }

  async find(path: string): Promise<StoredFile | undefined> {
    const bytes = this.files.get(path)?.length;
    return bytes === undefined ? undefined : { path, bytes };
  }

  async names(): Promise<readonly string[]> {
    return [...new Set([...this.files.keys()].map((path) => path.replace(/\/.*/, '/')))];
  }

  async *stream(path: string): AsyncGenerator<Uint8Array> {
    const bytes = this.files.get(path);
    if (!bytes) throw new SvcError('not_found', `${path} does not exist`);
    yield bytes;
  }

  async readRange(path: string, from: number, length: number): Promise<Uint8Array> {
    const bytes = this.files.get(path)?.subarray(from, from + length);
    if (bytes?.length !== length) throw new SvcError(bytes ? 'checksum_mismatch' : 'not_found', `${path} is too short`);
    return bytes;
  }

  async read(path: string): Promise<Uint8Array | undefined> {
    return this.files.get(path);
  }

  async create(path: string, content: LocalFile | Uint8Array | string): Promise<'created' | 'exists'> {
    this.onCreate(path);
    const bytes = isLocalFile(content) ? fs.readFileSync(content.path) : Buffer.from(content);
    return this.#change(() => {
      if (this.files.has(path)) return 'exists';
      this.files.set(path, bytes);
      return 'created';
    });
  }

  async put(path: string, text: string): Promise<void> {
    this.#change(() => this.files.set(path, Buffer.from(text)));
  }

  async remove(path: string): Promise<void> {
    this.#change(() => this.files.delete(path));
  }

  async lock<T>(work: () => Promise<T>): Promise<T> {
    for (const name of fs.readdirSync(this.workDirectory)) fs.rmSync(`${this.workDirectory}/${name}`);
    return work();
  }

  #change<T>(change: () => T): T {
    this.changes += 1;
    const dies = this.death?.change === this.changes ? this.death.when : undefined;
    if (dies === 'before') throw new Killed();
    const result = change();
    if (dies === 'after') throw new Killed();
    return result;
  }
}
