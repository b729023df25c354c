import { invalid, problem, ProblemError } from './problem.ts';
import type { Exchange } from './routes/route.ts';

const LARGEST_BODY = 1_000_000;

/** Reads a JSON body; undefined when it is empty. Throws a 400 when it is not JSON, a 413 when it is too large. */
export async function readJson(exchange: Exchange): Promise<unknown> {
  const text = await readText(exchange);
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw invalid('body', 'Must be JSON.');
  }
}

/** Reads a body as text. Throws a 413 when it is too large. */
export async function readText({ incoming, outgoing }: Exchange): Promise<string> {
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > LARGEST_BODY)
      throw new ProblemError(problem(413, 'Content Too Large', 'The body is too large.'));
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
