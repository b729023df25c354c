import type { ServerResponse } from 'node:http';

/** Holds an answer back: what the sandbox writes is gathered, and given whole once it has ended. */
export function captureAnswer(outgoing: ServerResponse, done: (body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  const gather = (chunk: unknown): void => {
    if (typeof chunk === 'string') chunks.push(Buffer.from(chunk));
    else if (chunk instanceof Uint8Array) chunks.push(Buffer.from(chunk));
  };
  Object.assign(outgoing, {
    write(chunk: unknown, ...rest: unknown[]): boolean {
      gather(chunk);
      calledBack(rest);
      return true;
    },
    end(chunk?: unknown, ...rest: unknown[]): ServerResponse {
      gather(chunk);
      // The methods of the class come back into sight.
      for (const name of ['write', 'end']) Reflect.deleteProperty(outgoing, name);
      done(Buffer.concat(chunks));
      calledBack([chunk, ...rest]);
      return outgoing;
    },
  });
}

function calledBack(given: readonly unknown[]): void {
  for (const callback of given) if (typeof callback === 'function') queueMicrotask(() => void callback());
}
