import { createHash } from 'node:crypto';
import path from 'node:path';
import { requireDirectory } from '../../config/paths.ts';
import { isSvcError } from '../../errors.ts';
import { createTransport } from '../../http/transport.ts';
import { writeFailure } from '../../write-failure.ts';
import { makeDirectories } from '../durable.ts';
import type { StoreHost } from '../open-store.ts';
import { damaged } from '../record.ts';
import { type ArchiveStore, type LocalFile, MAX_TEXT_BYTES, type StoredFile } from '../store.ts';
import { workAlone } from '../work-directory.ts';
import { drain } from './answer.ts';
import { textBody } from './body.ts';
import { S3Creator } from './create.ts';
import { listObjects } from './list.ts';
import { parseBucketPlace } from './place.ts';
import { readObject } from './read.ts';
import { S3Requests } from './requests.ts';
import { s3Settings } from './settings.ts';

/** An archive in a bucket. Its records are safe from a second writer, as the store lets only one create each. */
export class S3Store implements ArchiveStore {
  readonly name: string;
  readonly workDirectory: string;
  readonly #host: StoreHost;
  readonly #requests: S3Requests;
  readonly #creator: S3Creator;

  /** @throws SvcError `usage` for a place that is none, `key_missing` and `config` for the environment */
  constructor(place: string, host: StoreHost) {
    const found = parseBucketPlace(place);
    const settings = s3Settings(host.env);
    const { clock, signal, trace } = host;
    this.name = found.name;
    this.#host = host;
    this.#requests = new S3Requests({
      place: found,
      settings,
      transport: createTransport(host.env),
      clock,
      signal,
      trace,
    });
    this.#creator = new S3Creator(
      this.#requests,
      () =>
        host.onWarning?.(
          `${found.name}: the store has no conditional writes, so let only one machine write to the archive`,
        ),
      (ms) => clock.sleep(ms, signal),
    );
    const id = createHash('sha256')
      .update(`${settings.endpoint?.href ?? ''} ${found.name}`)
      .digest('hex');
    this.workDirectory = path.join(requireDirectory(host, 'state'), 'archives', id.slice(0, 16));
  }

  list(prefix: string): AsyncIterable<StoredFile> {
    return listObjects(this.#requests, prefix);
  }

  async names(): Promise<readonly string[]> {
    const names = new Set<string>();
    for await (const { path: file } of this.list('')) names.add(/^[^/]*\/?/.exec(file)?.[0] ?? file);
    return [...names];
  }

  read(file: string): AsyncIterable<Uint8Array> {
    return readObject(this.#requests, file);
  }

  async readText(file: string): Promise<string | undefined> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.read(file)) {
        bytes += chunk.byteLength;
        if (bytes > MAX_TEXT_BYTES) throw damaged(file, `it has more than ${MAX_TEXT_BYTES} bytes`);
        chunks.push(chunk);
      }
    } catch (error) {
      if (isSvcError(error, 'not_found') && error.facts?.['store_code'] !== 'NoSuchBucket') return undefined;
      throw error;
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  create(file: string, content: LocalFile | string): Promise<boolean> {
    return this.#creator.create(file, content);
  }

  async replace(file: string, text: string): Promise<void> {
    const body = textBody(text);
    const { answer } = await this.#requests.send({ method: 'PUT', action: 's3:PutObject', path: file, body });
    await drain(answer);
  }

  async remove(file: string): Promise<void> {
    const request = { method: 'DELETE', action: 's3:DeleteObject', path: file, wanted: [404] } as const;
    const { answer, refusal } = await this.#requests.send(request);
    if (refusal === undefined) await drain(answer);
  }

  /** Keeps other runs on this machine away; those elsewhere lose when they commit. */
  async lock<T>(work: () => Promise<T>): Promise<T> {
    try {
      makeDirectories(path.parse(this.workDirectory).root, path.dirname(this.workDirectory));
    } catch (error) {
      throw writeFailure(this.workDirectory, error);
    }
    const lock = `${this.workDirectory}.lock`;
    return workAlone({ name: this.name, lock, directory: this.workDirectory, host: this.#host }, work);
  }
}
