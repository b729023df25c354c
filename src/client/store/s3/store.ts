// A store in a bucket.

import path from 'node:path';
import { makeDirectory } from '../../../base/files/directory.ts';
import { sha256Of } from '../../../base/files/draft.ts';
import { createTransport } from '../../http/transport.ts';
import { bodyOf } from './body.ts';
import { findObject, listNames, listObjects } from './list.ts';
import { readObject, readSmallObject } from './read.ts';
import { S3Requests } from './requests.ts';
import { parseBucketLocation, s3Settings } from './settings.ts';
import { S3Writer } from './writer.ts';
import { damagedFile } from '../store-errors.ts';
import type { LocalFile, Store, StoreContent, StoreHost, StoredFile } from '../store.ts';
import { workAlone } from '../work-alone.ts';

export class S3Store implements Store {
  readonly name: string;
  readonly isRemote = true;
  readonly #host: StoreHost;
  readonly #content: StoreContent;
  readonly #requests: S3Requests;
  readonly #writer: S3Writer;
  readonly #id: string;

  /** Opens a location. @throws SvcError `usage` for a malformed location, `key_missing` and `config` for the environment */
  constructor(text: string, host: StoreHost, content: StoreContent) {
    const location = parseBucketLocation(text);
    const settings = s3Settings(host.env);
    const { clock, signal, trace } = host;
    this.name = location.name;
    this.#host = host;
    this.#content = content;
    const transport = createTransport(host.env);
    this.#requests = new S3Requests({ location, settings, transport, clock, signal, trace });
    this.#writer = new S3Writer(this.#requests, content, host);
    this.#id = sha256Of(`${settings.endpoint?.href ?? ''} ${location.name}`).slice(0, 16);
  }

  get isVersioned(): boolean {
    return this.#writer.isVersioned;
  }

  get workDirectory(): string {
    const { lock = '' } = this.#content;
    return path.join(this.#host.bucketWork?.() ?? '', lock === '' ? this.#id : `${this.#id}-${lock}`);
  }

  list(prefix: string, after?: string): AsyncIterable<StoredFile> {
    return listObjects(this.#requests, prefix, after);
  }

  find(file: string): Promise<StoredFile | undefined> {
    return findObject(this.#requests, file);
  }

  names(): Promise<readonly string[]> {
    return listNames(this.#requests);
  }

  read(file: string, most: number): Promise<Uint8Array | undefined> {
    return readSmallObject(this.#requests, file, most, this.#content);
  }

  stream(file: string): AsyncIterable<Uint8Array> {
    return readObject(this.#requests, file);
  }

  async readRange(file: string, from: number, length: number): Promise<Uint8Array> {
    if (from < 0 || length < 0) throw damagedFile(file, 'it is too short', this.#content);
    const chunks: Uint8Array[] = [];
    for await (const chunk of readObject(this.#requests, file, { from, to: from + length })) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    if (bytes.length !== length) throw damagedFile(file, 'it is too short', this.#content);
    return bytes;
  }

  async put(file: string, text: string): Promise<void> {
    await this.#writer.put(file, await bodyOf(text));
  }

  async remove(file: string): Promise<void> {
    await this.#requests.send({ method: 'DELETE', action: 's3:DeleteObject', path: file, handled: [404] });
  }

  async create(file: string, content: LocalFile | Uint8Array | string): Promise<'created' | 'exists'> {
    return (await this.#writer.create(file, await bodyOf(content))) ? 'created' : 'exists';
  }

  /** Excludes other writers on this machine only. A writer on another machine fails when both create the same file. */
  async lock<T>(work: () => Promise<T>): Promise<T> {
    makeDirectory(path.dirname(this.workDirectory));
    return workAlone(this, { noun: this.#content.noun, lock: `${this.workDirectory}.lock` }, this.#host, work);
  }
}
