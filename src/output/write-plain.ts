import { isSvcError } from '../errors.ts';
import type { System } from '../system.ts';
import { Output, ReaderGone } from './output.ts';

/** Writes a text of our own that holds no data, such as help, and resolves to the exit code. */
export async function writePlain(
  { stdout, stderr }: Pick<System, 'stdout' | 'stderr'>,
  text: string,
): Promise<number> {
  try {
    await new Output(stdout, { name: 'standard output', redact: identity }).write(text);
    return 0;
  } catch (error) {
    if (error instanceof ReaderGone) return 0;
    if (!isSvcError(error)) throw error;
    await new Output(stderr, { name: 'standard error', redact: identity, mayBeClosed: true })
      .write(`error: ${error.message}\n`)
      .catch(() => undefined);
    return error.exitCode;
  }
}

function identity(text: string): string {
  return text;
}
