import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { linkNew } from '../state/journal.ts';
import { STORE } from './signature.ts';

export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
  /** MD5 of its bytes, hexadecimal: its ETag. */
  readonly md5: string;
  /** When it was written, by the sandbox's clock, in milliseconds. */
  readonly at: number;
  /** The file that holds it, from this byte on. */
  readonly file: string;
  readonly start: number;
}

/** The first line of an object's file. It has a fixed length, so that it can be written after the bytes. */
const HEAD_BYTES = 4096;
const DRAFT_ENDING = '.draft';

/** The objects of buckets: a file each, named by its key's hash once it is whole, so that processes can share them. */
export class ObjectFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  hasBucket(bucket: string): boolean {
    return bucket === STORE.bucket || fs.existsSync(join(this.#directory, bucket));
  }

  createBucket(bucket: string): void {
    fs.mkdirSync(join(this.#directory, bucket), { recursive: true, mode: 0o700 });
  }

  buckets(): string[] {
    const found = fs.existsSync(this.#directory) ? fs.readdirSync(this.#directory) : [];
    return [...new Set([STORE.bucket, ...found])].toSorted();
  }

  /** A path for an incomplete object; its bytes begin after the head. */
  draft(bucket: string): { readonly path: string; readonly start: number } {
    this.createBucket(bucket);
    return { path: join(this.#directory, bucket, `${randomUUID()}${DRAFT_ENDING}`), start: HEAD_BYTES };
  }

  /** Gives a complete draft its name; with `isNew`, returns false if there is such an object. */
  keep(bucket: string, key: string, draft: string, isNew: boolean): boolean {
    const path = this.#path(bucket, key);
    if (isNew) return linkNew(draft, path);
    fs.renameSync(draft, path);
    return true;
  }

  find(bucket: string, key: string): StoredObject | undefined {
    return readHead(this.#path(bucket, key));
  }

  remove(bucket: string, key: string): void {
    fs.rmSync(this.#path(bucket, key), { force: true });
  }

  /** Every object of a bucket, in order of the keys' bytes. */
  list(bucket: string): StoredObject[] {
    const directory = join(this.#directory, bucket);
    if (!fs.existsSync(directory)) return [];
    const names = fs.readdirSync(directory).filter((name) => !name.endsWith(DRAFT_ENDING));
    const found = names.flatMap((name) => readHead(join(directory, name)) ?? []);
    return found.toSorted((one, other) => Buffer.compare(Buffer.from(one.key), Buffer.from(other.key)));
  }

  #path(bucket: string, key: string): string {
    return join(this.#directory, bucket, createHash('sha256').update(key).digest('hex'));
  }
}

/** The head of an object's file, to be written before its bytes. */
export function objectHead(key: string, md5: string, at: number): Buffer {
  const head = Buffer.alloc(HEAD_BYTES, ' ');
  head.write(JSON.stringify({ key, md5, at }));
  return head;
}

function readHead(file: string): StoredObject | undefined {
  if (fs.statSync(file, { throwIfNoEntry: false }) === undefined) return undefined;
  const head = Buffer.alloc(HEAD_BYTES);
  const descriptor = fs.openSync(file, 'r');
  try {
    fs.readSync(descriptor, head, 0, HEAD_BYTES, 0);
  } finally {
    fs.closeSync(descriptor);
  }
  const { key, md5, at } = JSON.parse(head.toString('utf8')) as Pick<StoredObject, 'key' | 'md5' | 'at'>;
  return { key, md5, at, bytes: fs.statSync(file).size - HEAD_BYTES, file, start: HEAD_BYTES };
}
