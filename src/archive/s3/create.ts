import { createHash } from 'node:crypto';
import { isSvcError } from '../../errors.ts';
import type { LocalFile } from '../store.ts';
import { drain } from './answer.ts';
import { fileBody, type S3Body, textBody } from './body.ts';
import { readObject } from './read.ts';
import { s3Error } from './refusal.ts';
import type { S3Answer, S3Requests } from './requests.ts';

/** A write that was on its way when another was answered has arrived after this time. */
const SETTLE_MS = 2_000;

/** Makes objects that must not exist yet, with a conditional write where the store has it. */
export class S3Creator {
  readonly #requests: S3Requests;
  readonly #onUnconditional: () => void;
  readonly #pause: (ms: number) => Promise<void>;
  /** Whether the store keeps to the condition; not known before it was tried. */
  #keepsCondition: boolean | undefined;

  /** `onUnconditional` is called once, when the store turns out to write without looking. */
  constructor(requests: S3Requests, onUnconditional: () => void, pause: (ms: number) => Promise<void>) {
    this.#requests = requests;
    this.#pause = pause;
    this.#onUnconditional = onUnconditional;
  }

  /** False when the object exists, unless it is there by an attempt of ours. @throws SvcError */
  async create(path: string, content: LocalFile | string): Promise<boolean> {
    const body = typeof content === 'string' ? textBody(content) : await fileBody(content);
    if (this.#keepsCondition === false) return this.#lookAndPut(path, body);
    // A store that ignores the condition would write over what is there. A refusal says more when the write meets it.
    const isUntried = this.#keepsCondition === undefined && body.isText;
    if (isUntried && (await this.#exists(path, [301, 307, 400, 403, 404]))) return false;
    const sent = await this.#put(path, body, true);
    const { status } = sent.answer;
    if (status === 412 || status === 409) return sent.wasUnclear && (await this.#isThere(path, body));
    if (sent.refusal !== undefined) {
      // The condition, or something else? Without it a request that is wrong otherwise is refused all the same.
      const isMade = await this.#lookAndPut(path, body);
      this.#distrust();
      return isMade;
    }
    return !isUntried || this.#probe(path, body);
  }

  // A store that does not know the condition may pass over it in silence. The same bytes once more do no harm.
  async #probe(path: string, body: S3Body): Promise<boolean> {
    const { answer } = await this.#put(path, body, true);
    this.#keepsCondition = answer.status === 412 || answer.status === 409;
    if (this.#keepsCondition) return true;
    this.#distrust();
    return this.#isLast(path, body);
  }

  #distrust(): void {
    this.#keepsCondition = false;
    this.#onUnconditional();
  }

  async #lookAndPut(path: string, body: S3Body): Promise<boolean> {
    if (await this.#exists(path, [404])) return false;
    const { refusal } = await this.#put(path, body, false);
    if (refusal !== undefined) throw s3Error(refusal);
    // A segment has its hash in its name, so whoever wrote it wrote the same.
    return !body.isText || this.#isLast(path, body);
  }

  async #exists(path: string, wanted: readonly number[]): Promise<boolean> {
    const request = { method: 'HEAD', action: 's3:GetObject', path, wanted } as const;
    return (await this.#requests.send(request)).refusal === undefined;
  }

  // Nothing kept other writers from doing the same: once all have done so, what is there says who was last.
  async #isLast(path: string, body: S3Body): Promise<boolean> {
    await this.#pause(SETTLE_MS);
    return this.#isThere(path, body);
  }

  async #put(path: string, body: S3Body, isNew: boolean): Promise<S3Answer> {
    const sent = await this.#requests.send({
      method: 'PUT',
      action: 's3:PutObject',
      path,
      body,
      headers: isNew ? { 'if-none-match': '*' } : {},
      wanted: isNew ? [400, 409, 412, 501] : [],
    });
    if (sent.refusal === undefined) await drain(sent.answer);
    else if (sent.refusal.status === 400 && !isAboutCondition(sent.refusal.error.code))
      throw s3Error(sent.refusal);
    return sent;
  }

  // After an attempt without an answer: what is there may be what that attempt wrote.
  async #isThere(path: string, { sha256 }: S3Body): Promise<boolean> {
    const hash = createHash('sha256');
    try {
      for await (const chunk of readObject(this.#requests, path)) hash.update(chunk);
    } catch (error) {
      if (isSvcError(error, 'not_found')) return false;
      throw error;
    }
    return hash.digest('hex') === sha256;
  }
}

function isAboutCondition(code: string | undefined): boolean {
  return (
    code === undefined || ['InvalidArgument', 'InvalidRequest', 'NotImplemented', 'BadRequest'].includes(code)
  );
}
