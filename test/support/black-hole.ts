import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';

// This worker listens and then blocks its event loop, so that it never accepts a connection.
const LISTEN = `
const { parentPort } = require('node:worker_threads');
const { createServer } = require('node:net');
const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
  parentPort.postMessage(server.address().port);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});
`;

/** Opens a port whose queue of connections is full, so that no further connection succeeds. */
export async function blackHole(): Promise<{ url: URL; close(): Promise<void> }> {
  const worker = new Worker(LISTEN, { eval: true });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  // Two connections fill the queue, and the others would enter it before those of a test.
  const fillers: Socket[] = [];
  for (let n = 0; n < 4; n += 1) {
    const filler = connect(port, '127.0.0.1').on('error', () => undefined);
    fillers.push(filler);
    if (n < 2) await once(filler, 'connect');
  }
  return {
    url: new URL(`http://127.0.0.1:${port}/`),
    async close() {
      for (const socket of fillers) socket.destroy();
      await worker.terminate();
    },
  };
}
