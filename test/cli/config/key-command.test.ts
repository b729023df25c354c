import fs from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { isSvcError, SvcError } from '../../../src/base/errors.ts';
import { keyFromCommand } from '../../../src/cli/config/key-command.ts';
import { commandName } from '../../../src/cli/config/command-name.ts';
import type { KeyCommandHost } from '../../../src/cli/config/key-command.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const CANARY = 'canary-key-77aa';
const env = { PATH: process.env['PATH'] ?? '', SVC_PRIVATE_API_KEY: CANARY, SVC_API_KEY_FILE: '/x', HOME: '/h' };

function run(command: string, host: KeyCommandHost = {}): Promise<string> {
  return keyFromCommand(command, 'management', { env, cwd: temporaryDirectory(), ...host });
}

async function failureOf(command: string, host: KeyCommandHost = {}): Promise<SvcError> {
  const error = await run(command, host).then(
    () => undefined,
    (caught: unknown) => caught,
  );
  if (!isSvcError(error)) throw new Error('no SvcError', { cause: error });
  expect(`${error.message} ${error.hint} ${error.stack} ${String(error.cause)}`).not.toContain(CANARY);
  return error;
}

it('a key command gives the first line of what it prints, without space around it', async () => {
  expect(await run(String.raw`printf ' k-1 \r\nuser: me\n'`)).toBe('k-1');
  expect(await run('printf k-2')).toBe('k-2');
});

it('a key command is a line of the shell, in the directory of the command, with an empty input and no key of ours', async () => {
  const cwd = temporaryDirectory();
  fs.writeFileSync(path.join(cwd, 'key'), 'from-file\n');
  expect(await keyFromCommand('cat - key | tail -n 1', 'private', { env, cwd })).toBe('from-file');
  expect(await run('env | grep -c ^SVC_ ; echo end >&2')).toBe('0');
});

it.each([
  [`echo ${CANARY}; exit 3`, 'ended with exit code 3'],
  [`./no-such-program ${CANARY}`, 'ended with exit code 127'],
  ['true', 'printed nothing'],
  [`printf '\\n${CANARY}\\n'`, 'printed nothing'],
  ['kill -9 $$', 'was ended by SIGKILL'],
])(
  'R06: a key command that fails is told by its first word and its ending, never by its output: %s',
  async (command, words) => {
    const error = await failureOf(command);
    expect(error.exitCode).toBe(3);
    expect(error.message).toBe(`${commandName(command)}, which should print the management key, ${words}`);
  },
);

it('R06: a key command that is a pasted key is not named, and hidden in what the shell says of it', async () => {
  const secrets: string[] = [];
  const error = await failureOf(CANARY, { onSecret: (text) => secrets.push(text) });
  expect(error.message).toBe('a command, which should print the management key, ended with exit code 127');
  expect(secrets).toContain(CANARY);
  expect(commandName('~/bin/print-key --of sandbox')).toBe('command ~/bin/print-key');
});

it('R14: a key command that hangs is ended at its time limit, also where what it started continues', async () => {
  expect((await failureOf('sleep 600; echo x', { limitMs: 200 })).message).toContain('took longer than 0.2 s');
  expect((await failureOf('sleep 600 & wait', { limitMs: 200 })).message).toContain('took longer');
});

it.each([
  ['a line', `echo ${CANARY}; sleep 600 &`],
  ['a line without its end', `printf ${CANARY}; sleep 600 &`],
])(
  'a key command is over with %s and its own end, also where what it started keeps its output open',
  async (_, command) => {
    const cwd = temporaryDirectory();
    expect(await keyFromCommand(`${command} echo $! > started`, 'management', { env, cwd })).toBe(CANARY);
    process.kill(Number(fs.readFileSync(path.join(cwd, 'started'), 'utf8')), 'SIGKILL');
  },
);

it('R19: a key command is ended when the command that needs the key is', async () => {
  const abort = new AbortController();
  const running = run('sleep 600', { signal: abort.signal });
  setTimeout(() => abort.abort(new SvcError('interrupted', 'interrupted')), 50);
  await expect(running).rejects.toMatchObject({ code: 'interrupted' });
});

it('R06: a key command is known as a secret before what it writes on stderr is told, as by set -x', async () => {
  const told: string[] = [];
  await run(`set -x; echo ${CANARY}`, {
    onLine: (line) => told.push(`line ${line}`),
    onSecret: (text) => told.push(`secret ${text}`),
  });
  expect(told.map((one) => one.split(' ')[0])).toEqual(['secret', 'line']);
});

it('a key command tells its stderr line by line', async () => {
  const [lines, secrets]: [string[], string[]] = [[], []];
  await run(`echo ${CANARY}; sleep 0.2; echo 'touch the key' >&2; printf last >&2`, {
    onLine: (line) => lines.push(line),
    onSecret: (text) => secrets.push(text),
  });
  expect(lines).toEqual(['touch the key', 'last']);
  expect(secrets).toContain(CANARY);
});

it('a key command is not read without an end', async () => {
  expect(await failureOf('yes "" | head -c 5000000')).toMatchObject({ code: 'config' });
});

it('a key command is called by a first word that holds nothing but a name', () => {
  expect(commandName('pass show svc')).toBe('command pass');
  expect(commandName('/opt/bin/op read x')).toBe('command /opt/bin/op');
  for (const hidden of [`TOKEN=${CANARY} op`, '$(cat x)', '"a b" c', '']) expect(commandName(hidden)).toBe('a command');
});
