// The program of the worker thread. The build puts jq-web before it, which defines the promise `jq`.
const port = require('node:worker_threads').parentPort;

/** The output of the jq functions `debug` and `stderr`. */
let notes = '';

// jq-web writes this output to the console, as the last argument.
Object.assign(console, { warn: (...parts) => (notes = String(parts.at(-1) ?? '')) });

void start();

async function start() {
  const { raw } = await jq;
  port.on('message', ({ input, filter }) => port.postMessage(answer(raw, input, filter)));
  port.postMessage({ ready: true });
}

function answer(raw, input, filter) {
  notes = '';
  try {
    return { output: raw(input, filter, ['-c']) ?? '', notes };
  } catch (error) {
    return { failure: error.stderr ?? '' };
  }
}
