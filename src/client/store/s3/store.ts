import path from 'node:path';
import { isSvcError, SvcError } from '../../../base/errors.ts';
import { makeDirectory } from '../../../base/files/directory.ts';
import { sha256Of, sha256OfAll } from '../../../base/files/draft.ts';
import { createTransport } from '../../http/transport.ts';
import {
  damagedFile,
  type FileStore,
  type LocalFile,
  MAX_TEXT_BYTES,
  type StoredFile,
  type StoreContent,
  type StoreHost,
  workAlone,
} from '../store.ts';
import { s3Error } from './s3-error.ts';
import { listObjects, readObject } from './read.ts';
import { fileBody, type S3Body, S3Requests, type S3Response, textBody } from './requests.ts';
import { md5Of } from '../../transfer/receive.ts';
import { parseBucketLocation, s3Settings } from './settings.ts';

/** The time after which a concurrent write is visible. */
const SETTLE_MS = 2_000;

/** How often an object is looked for that the store confirmed: replicas may show it later. */
const LOOKS = 5;

/** A store in a bucket. Its files are safe from a second writer, because each can be created only once. */
export class S3Store implements FileStore {
  readonly name: string;
  readonly workDirectory: string;
  readonly isRemote = true;
  readonly #host: StoreHost;
  readonly #content: StoreContent;
  readonly #requests: S3Requests;
  /** Whether the store honors the condition of a write; undefined before it was tried. */
  #honorsCondition: boolean | undefined;
  /** The top folders in which the store let these credentials look at an object. A refusal there means that there is none. */
  readonly #seenFolders = new Set<string>();
  #hasWarned = false;

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
    const id = sha256Of(`${settings.endpoint?.href ?? ''} ${location.name}`);
    const name = content.writer === '' ? id.slice(0, 16) : `${id.slice(0, 16)}-${content.writer}`;
    this.workDirectory = path.join(host.bucketWork(), name);
  }

  list(prefix: string, after?: string): AsyncIterable<StoredFile> {
    return listObjects(this.#requests, prefix, after);
  }

  async find(file: string): Promise<StoredFile | undefined> {
    for await (const found of this.list(file)) if (found.path === file) return found;
    return undefined;
  }

  async names(): Promise<readonly string[]> {
    const names = new Set<string>();
    for await (const { path: file } of this.list('')) names.add(/^[^/]*\/?/.exec(file)?.[0] ?? file);
    return [...names];
  }

  read(file: string): AsyncIterable<Uint8Array> {
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

  async readText(file: string): Promise<string | undefined> {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.read(file)) {
        bytes += chunk.byteLength;
        if (bytes > MAX_TEXT_BYTES) throw damagedFile(file, `it has more than ${MAX_TEXT_BYTES} bytes`, this.#content);
        chunks.push(chunk);
      }
    } catch (error) {
      if (isSvcError(error, 'not_found') && error.facts?.['store_code'] !== 'NoSuchBucket') return undefined;
      throw error;
    }
    return Buffer.concat(chunks).toString('utf8');
  }

  async replace(file: string, text: string): Promise<void> {
    const body = textBody(text);
    await this.#requests.send({ method: 'PUT', action: 's3:PutObject', path: file, body });
    // Another machine may have replaced it since, so that other bytes are no fault.
    await this.#requireStored(file);
  }

  async remove(file: string): Promise<void> {
    await this.#requests.send({ method: 'DELETE', action: 's3:DeleteObject', path: file, wanted: [404] });
  }

  /** Locks out other runs on this machine. Runs on other machines fail to commit. */
  async lock<T>(work: () => Promise<T>): Promise<T> {
    makeDirectory(path.dirname(this.workDirectory));
    return workAlone(this, { noun: this.#content.noun, lock: `${this.workDirectory}.lock` }, this.#host, work);
  }

  /** Creates an object. Returns false if it exists, unless an earlier attempt created it. @throws SvcError */
  async create(path: string, content: LocalFile | string): Promise<boolean> {
    const body = typeof content === 'string' ? textBody(content) : await fileBody(content);
    if (this.#honorsCondition === false) return this.#checkAndPut(path, body);
    // A store that ignores the condition would overwrite the object, so it is checked first. If that check is refused, the write
    // is tried, because its error explains more.
    const isUntried = this.#honorsCondition === undefined && body.isText;
    if (isUntried && (await this.#exists(path, [301, 307, 400, 403, 404]))) return false;
    const sent = await this.#putNew(path, body);
    if (sent === undefined) return this.#isThere(path, body);
    if (sent.refusal?.status === 412) return sent.wasUnclear && (await this.#isThere(path, body));
    if (sent.refusal === undefined && !body.isText) await this.#requireStored(path, body);
    if (sent.refusal !== undefined) {
      // If the refusal was not about the condition, the write without it is refused too.
      const isMade = await this.#checkAndPut(path, body);
      this.#distrust();
      return isMade;
    }
    return !isUntried || this.#probe(path, body);
  }

  // 409 means that another write of the object is under way, which may still fail. Undefined if the object is there afterwards.
  async #putNew(path: string, body: S3Body): Promise<S3Response | undefined> {
    try {
      return await this.#put(path, body, true);
    } catch (error) {
      const isBusy = error instanceof SvcError && error.status === 409;
      // Without the permission to list, a store responds with 403 about an object that does not exist.
      if (isBusy && (await this.#exists(path, [403, 404]))) return undefined;
      throw error;
    }
  }

  // A store may silently ignore the condition. Writing the same bytes again shows this and is harmless.
  async #probe(path: string, body: S3Body): Promise<boolean> {
    const sent = await this.#putNew(path, body);
    this.#honorsCondition = sent === undefined || sent.refusal?.status === 412;
    if (this.#honorsCondition) return true;
    this.#distrust();
    return this.#isLast(path, body);
  }

  #distrust(): void {
    this.#honorsCondition = false;
    this.#host.onWarning?.(
      `${this.name}: the store has no conditional writes, so let only one machine write to the ${this.#content.noun}`,
    );
  }

  async #checkAndPut(path: string, body: S3Body): Promise<boolean> {
    if (await this.#exists(path, [404])) return false;
    const { refusal } = await this.#put(path, body, false);
    if (refusal !== undefined) throw s3Error(refusal);
    if (!body.isText) await this.#requireStored(path, body);
    // The name of a segment includes its hash, so every writer writes the same bytes.
    return !body.isText || this.#isLast(path, body);
  }

  async #exists(path: string, wanted: readonly number[]): Promise<boolean> {
    const request = { method: 'HEAD', action: 's3:GetObject', path, wanted } as const;
    return (await this.#requests.send(request)).refusal === undefined;
  }

  // Without conditions, several writers may succeed. After a pause, the object shows which was last.
  async #isLast(path: string, body: S3Body): Promise<boolean> {
    await this.#host.clock.sleep(SETTLE_MS, this.#host.signal);
    return this.#isThere(path, body);
  }

  async #put(path: string, body: S3Body, isNew: boolean): Promise<S3Response> {
    const sent = await this.#requests.send({
      method: 'PUT',
      action: 's3:PutObject',
      path,
      body,
      headers: isNew ? { 'if-none-match': '*' } : {},
      wanted: isNew ? [400, 412, 501] : [],
    });
    const { refusal } = sent;
    if (refusal?.status === 400 && !isAboutCondition(refusal.error.code)) throw s3Error(refusal);
    return sent;
  }

  /**
   * Looks at an object that the store confirmed, before a record names it. Credentials that may only write cannot look,
   * which is one warning.
   */
  async #requireStored(path: string, body?: S3Body): Promise<void> {
    const folder = path.split('/', 1).join('');
    const request = { method: 'HEAD', action: 's3:GetObject', path, wanted: [403, 404], fresh: true } as const;
    for (let look = 1; look <= LOOKS; look += 1) {
      const { response, refusal } = await this.#requests.send(request);
      if (refusal?.status === 403 && !this.#seenFolders.has(folder)) return this.#warnOfBlindness();
      if (refusal === undefined) {
        this.#seenFolders.add(folder);
        if (body === undefined) return;
        const md5 = md5Of(response);
        const isSame = Number(response.header('content-length')) === body.bytes;
        if (isSame && (md5 === undefined || body.md5 === undefined || md5 === hexOf(body.md5))) return;
      }
      await this.#host.clock.sleep(SETTLE_MS, this.#host.signal);
    }
    throw new SvcError('server', `${this.name}: the store confirmed ${path}, and does not have it as it was sent`, {
      hint: 'Run the command again later: no record names the file.',
      retryable: true,
      facts: { path },
    });
  }

  #warnOfBlindness(): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.#host.onWarning?.(
      `${this.name}: these credentials may not read what they wrote, so nothing proves that the store has it: allow s3:GetObject`,
    );
  }

  // Whether the object has these bytes, because an attempt without a response may have written it.
  async #isThere(path: string, { sha256 }: S3Body): Promise<boolean> {
    try {
      return (await sha256OfAll(readObject(this.#requests, path))) === sha256;
    } catch (error) {
      if (isSvcError(error, 'not_found')) return false;
      throw error;
    }
  }
}

function hexOf(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function isAboutCondition(code: string | undefined): boolean {
  return code === undefined || ['InvalidArgument', 'InvalidRequest', 'NotImplemented', 'BadRequest'].includes(code);
}
