import { createHash } from 'node:crypto';
import { isSvcError, SvcError } from '../errors.ts';
import { fileSource } from '../transfer/source.ts';
import type { RunDirectory } from './run-directory.ts';

/** The header line of a request file, with its line end: it goes in front of every part. */
export async function headerOf(file: string, bytes: number): Promise<Uint8Array> {
  const header = await fileSource(file, { end: bytes });
  const chunks: Uint8Array[] = [];
  for await (const chunk of header.open()) chunks.push(Uint8Array.from(chunk));
  return Buffer.concat(chunks);
}

/**
 * Finds the input of a run again, and makes sure that it is still the same.
 * @throws SvcError `altered` when it is not, `changed` when it came through a pipe
 */
export async function reopenFile({ record, name, submitCommand }: RunDirectory): Promise<string> {
  const { id, input } = record;
  if (input.path === undefined) {
    throw new SvcError('changed', `run ${id} has parts to upload, and its input came through a pipe`, {
      hint: `Pipe the same file into '${submitCommand}' again: it goes on where it stopped; or give the run up with 'svc au abandon ${name}'.`,
    });
  }
  const giveUp = `or give the run up with 'svc au abandon ${name}'.`;
  if ((await hashOf(input.path, giveUp)) === input.sha256) return input.path;
  throw new SvcError('altered', `${input.path} has changed since run ${id} was begun`, {
    hint: `Put the file back as it was, ${giveUp}`,
    facts: { run: id },
  });
}

async function hashOf(file: string, giveUp: string): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of (await fileSource(file)).open()) hash.update(chunk);
  } catch (error) {
    if (!isSvcError(error)) throw error;
    throw new SvcError(error.code, error.message, {
      hint: `Put the file back, submit it under its new name, ${giveUp}`,
      facts: error.facts,
      cause: error,
    });
  }
  return hash.digest('hex');
}
