// Keeps a response that arrives before the whole request was sent.

import type { Duplex } from 'node:stream';
import type { buildConnector } from 'undici';

type Connector = buildConnector.connector;
type WriteDone = (error?: Error | null) => void;

/** How long to read after a failed write. An early response is already in the receive buffer, if there is one. */
const READ_MS = 1_000;

/**
 * Returns a connector whose sockets read an early response (R38). A server that refuses a long body responds and closes the
 * connection. The next write then fails, and Node would destroy the socket before reading the response. `onBroken` is called with
 * the error that breaks a connection, and with undefined for a new connection.
 */
export function keepEarlyResponse(connector: Connector, onBroken: (error: Error | undefined) => void): Connector {
  return (options, callback) => {
    connector(options, (...[error, socket]) => {
      if (error === null) {
        // This listener comes before undici's own, so that the error is known when undici reacts.
        onBroken(undefined);
        socket.on('error', onBroken);
        // Node reports a reset that arrives with the last bytes as a plain end, but the socket then has no remote address. Node
        // caches the address, so an earlier read would hide the reset.
        socket.once('end', () => socket.remoteAddress ?? onBroken(resetByPeer()));
        holdWriteErrors(socket);
        callback(null, socket);
      } else callback(error, null);
    });
  };
}

function resetByPeer(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
}

/** Delays the error of a failed write until all received bytes were read. */
function holdWriteErrors(socket: Duplex): void {
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, held(socket, done));
  if (writev) socket._writev = (chunks, done) => writev(chunks, held(socket, done));
}

function held(socket: Duplex, done: WriteDone): WriteDone {
  return (error) => {
    if (!isLostPeer(error) || socket.readableEnded || socket.destroyed) return done(error);
    const report = (): void => {
      clearTimeout(timer);
      socket.off('end', report).off('close', report);
      done(error);
    };
    const timer = setTimeout(report, READ_MS);
    socket.once('end', report).once('close', report);
  };
}

function isLostPeer(error: Error | null | undefined): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'EPIPE' || error.code === 'ECONNRESET');
}
