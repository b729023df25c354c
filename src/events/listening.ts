import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SvcError } from '../errors.ts';
import { systemCodeOf } from '../system-code.ts';

const LAST_MOMENT_MS = 500;

/** Resolves to the port. @throws SvcError `local`, which says why it cannot listen */
export function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenError(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners('error').on('error', () => undefined);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

function listenError(error: Error, host: string, port: number): SvcError {
  const code = systemCodeOf(error) ?? 'unknown reason';
  if (code === 'EADDRINUSE') {
    return new SvcError('local', `port ${port} is in use`, {
      hint: 'Choose another port, or 0 for a free one, and tell the sender.',
    });
  }
  if (code === 'EACCES') {
    return new SvcError('local', `port ${port} may not be listened on`, {
      hint: 'Choose a port from 1024 up.',
    });
  }
  return new SvcError('local', `nothing can listen on ${host} (${code})`, {
    hint: 'Choose an address of this machine, such as 127.0.0.1.',
  });
}

/** Stops listening. What is being received has a moment to finish. */
export async function stop(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), LAST_MOMENT_MS);
  await closed;
  clearTimeout(timer);
}
