// What the worker thread does, below the text of jq-web, whose promise is called `jq`.
const port = require('node:worker_threads').parentPort;

/** What debug and stderr of jq wrote. */
let notes = '';

// The package writes them to the console, behind a format and its colours.
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
    return { failure: error.stderr ?? '', exitCode: error.exitCode ?? 0 };
  }
}
