import { SvcError } from '../../../src/base/errors.ts';
import { systemClock } from '../../../src/base/system.ts';
import { createTransport } from '../../../src/client/http/transport.ts';
import { downloadFile } from '../../../src/client/transfer/download.ts';

/** A process that downloads one address into one file. Tests bundle it, then kill it or limit its file size. */
const [address = '', target = ''] = process.argv.slice(2);
const transport = createTransport();

try {
  await downloadFile({
    transport,
    clock: systemClock,
    host: { pid: process.pid, isAlive: () => false },
    address: () => Promise.resolve(new URL(address)),
    target,
    overwrite: false,
  });
} catch (error) {
  console.error(error instanceof SvcError ? `${error.code}: ${error.message}` : error);
  process.exitCode = error instanceof SvcError ? error.exitCode : 99;
}
await transport.close();
