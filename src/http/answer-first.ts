import type { Duplex } from 'node:stream';
import type { Connector } from './connections.ts';
import { guardPausedParser } from './paused-parser.ts';

type WriteDone = (error?: Error | null) => void;

// The answer, if there is one, lies in the receive buffer already: this bounds the wait for nothing.
const READ_MS = 1_000;

/**
 * Opens connections so that an early answer is not lost. A server that refuses a long body says so and closes; the
 * next write then fails, and Node would drop the socket with the answer unread in it (R38).
 */
export function answerFirst(connector: Connector): Connector {
  return (options, callback) => {
    connector(options, (...[error, socket]) => {
      if (error === null) {
        guardPausedParser(socket);
        holdWriteFailures(socket);
        callback(null, socket);
      } else callback(error, null);
    });
  };
}

/** Reports a failed write only once what had been received before it was read. */
function holdWriteFailures(socket: Duplex): void {
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
