import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { Readable, type Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { SvcError } from '../../src/base/errors.ts';
import { systemClock } from '../../src/base/system.ts';
import { temporaryDirectory } from './directory.ts';
import { svcHere } from './run-here.ts';
import { isAlive, LAUNCHER } from './svc.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** A directory and a home in which tests run the commands of a document, with `svc` on the PATH. */
export interface ShellHome {
  readonly directory: string;
  /** Runs a script with bash, which ends at the first command that fails. It may take ten minutes. */
  run(script: string, env?: Readonly<Record<string, string>>): Promise<{ status: number | null; stderr: string }>;
}

/** Creates such a directory, with these files and folders of the project in it. */
export function openShellHome(names: readonly string[] = []): ShellHome {
  const directory = temporaryDirectory();
  for (const name of names) fs.symlinkSync(join(project, name), join(directory, name));
  const home = join(directory, '.home');
  fs.mkdirSync(join(home, 'bin'), { recursive: true });
  const path = [join(home, 'bin'), dirname(process.execPath), process.env['PATH']].join(delimiter);
  return {
    directory,
    async run(script, env = {}) {
      const runs: Promise<void>[] = [];
      const server = createServer((socket) => runs.push(runFor(socket).finally(() => socket.destroy()))).listen(
        0,
        '127.0.0.1',
      );
      await once(server, 'listening');
      const svc = join(home, 'bin/svc');
      fs.writeFileSync(svc, programFor(server));
      fs.chmodSync(svc, 0o755);
      const errors = join(home, 'stderr');
      fs.writeFileSync(errors, '');
      const stderr = fs.openSync(errors, 'a');
      const before = process.cwd();
      process.chdir(directory);
      const shell = spawn('bash', ['-eu', '-o', 'pipefail', '-c', script], {
        timeout: 600_000,
        env: { HOME: home, PATH: path, CI: 'true', ...env },
        stdio: ['ignore', 'ignore', stderr],
      });
      const [status] = (await once(shell, 'exit')) as [number | null];
      server.close();
      try {
        await Promise.all(runs);
      } finally {
        process.chdir(before);
        fs.closeSync(stderr);
      }
      return { status, stderr: fs.readFileSync(errors, 'utf8') };
    },
  };
}

/**
 * Returns a program that has the test run a command line of svc, with the program's own streams and variables: a process for
 * each command takes several times as long. What starts a server, or another program on its streams, is a process.
 */
function programFor(server: Server): string {
  return `#!/bin/bash
case "\${1-} \${2-}" in 'sandbox start' | 'sandbox exec') exec '${process.execPath}' '${LAUNCHER}' "$@" ;; esac
# The shell and the test would write over each other in a file that both have open.
if [ -f /dev/stdout ]; then exec > >(exec cat); fi
exec 3<>/dev/tcp/127.0.0.1/${(server.address() as AddressInfo).port}
# Each redirection of the shell itself would show the test another stream for a moment.
(echo $$ >&3)
read -r -u 3 code
exec >&-
wait
exit "$code"
`;
}

/** Runs the command line of the program that connected, and tells it the exit code. */
async function runFor(socket: Socket): Promise<void> {
  const [pid] = (await once(socket, 'data')) as [Buffer];
  const program = `/proc/${Number(pid)}`;
  const words = (name: string): string[] => fs.readFileSync(join(program, name), 'utf8').split('\0').slice(0, -1);
  const env = Object.fromEntries(words('environ').map((text) => /^(.*?)=(.*)$/s.exec(text)!.slice(1)));
  const cwd = fs.readlinkSync(join(program, 'cwd'));
  if (cwd !== process.cwd()) throw new Error(`a command in ${cwd} has to be a process`);
  const ending = new AbortController();
  socket.on('close', () => ending.abort(new SvcError('terminated', 'ended by a signal')));
  const stdout = writerOf(join(program, 'fd/1'));
  const closed = new Promise((resolve) => stdout.on('close', resolve));
  const errors = fs.openSync(join(program, 'fd/2'), 'a');
  const input = Readable.from(read(join(program, 'fd/0')));
  const options = {
    env,
    input,
    stdout,
    home: env['HOME'] ?? '',
    cwd,
    clock: systemClock,
    signal: ending.signal,
    isAlive,
  };
  const { code, stderr } = await svcHere(words('cmdline').slice(2), options);
  input.destroy();
  fs.writeSync(errors, stderr);
  fs.closeSync(errors);
  stdout.end();
  await closed;
  await new Promise<void>((resolve) => socket.end(`${code}\n`, resolve));
}

/** Opens the input of a program when it is read first. Opening a pipe that nobody writes to any more must not wait. */
async function* read(path: string): AsyncGenerator<Buffer> {
  if (fs.statSync(path).isFIFO())
    yield* new Socket({ fd: fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK) });
  else yield* fs.createReadStream(path);
}

function writerOf(path: string): Writable {
  if (!fs.statSync(path).isFIFO()) return fs.createWriteStream(path, { flags: 'a' });
  return new Socket({
    fd: fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK),
    readable: false,
    writable: true,
  });
}
