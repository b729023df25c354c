import { once } from 'node:events';
import { connect } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMAND_LINES, LASTING } from '../support/command-lines.ts';
import { errorIn } from '../support/run-here.ts';
import { finished, Home } from '../support/svc.ts';
import { allCommands } from '../support/tree.ts';
import { World } from '../support/world.ts';
import { changes, mutate } from './mutate.ts';

const IS_SOAK = process.env['SOAK'] !== undefined;

const commands = await allCommands();
const home = new Home();
let world: World;

beforeAll(async () => {
  world = await World.prepare();
});
afterAll(() => world.close());

/** Draws what a person could type: commands, options, values of every kind, and nonsense. */
function typed(): fc.Arbitrary<string[]> {
  const words = Object.entries(COMMAND_LINES)
    .filter(([name]) => !LASTING.has(name) && name !== 'logs tail' && name !== 'sandbox exec')
    .map(([, line]) => line.split(' '));
  const options = commands.flatMap(({ command }) =>
    Object.values(command.parameters).flatMap(({ syntax }) => /--[\w-]+/.exec(syntax)?.[0] ?? []),
  );
  const value = fc.oneof(
    fc.constantFrom(
      '0',
      '-1',
      '1e9',
      '',
      ' ',
      '1d',
      'yesterday',
      '{job}',
      '{session}',
      '{url}',
      'tokens.csv',
      '-',
      '--',
      '@',
      '*',
    ),
    // The test world would replace a name in braces with a value.
    fc.string({ maxLength: 12 }).filter((text) => !/\{[a-z-]+\}/.test(text)),
    fc.integer().map(String),
  );
  const extra = fc.oneof(
    fc.constantFrom(...options).map((option) => [option]),
    fc.tuple(fc.constantFrom(...options), value).map(([option, text]) => [`${option}=${text}`]),
    fc.tuple(fc.constantFrom(...options), value),
    value.map((text) => [text]),
  );
  return fc
    .tuple(fc.constantFrom(...words), fc.array(extra, { maxLength: 3 }), fc.nat({ max: 6 }))
    .map(([line, more, at]) => line.toSpliced(Math.min(at, line.length), 0, ...more.flat()));
}

describe('whatever is typed', () => {
  it(
    'R49: a command ends with a code of the table, and with an explanation where it fails',
    { timeout: 3_600_000 },
    async () => {
      const known = new Set([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]);
      const one = async (line: readonly string[]): Promise<void> => {
        const argv = line.map((word) => world.fill(word));
        const result = await world.run('', ['-o', 'json', '--timeout', '1m', '--no-pager'], { argv });
        expect(known, line.join(' ')).toContain(result.code);
        const last = result.stderr.trimEnd().split('\n').at(-1) ?? '';
        const code = result.code > 0 && last.startsWith('{') ? errorIn(result)['code'] : undefined;
        expect(code, `${line.join(' ')}: ${last}`).not.toBe('bug');
      };
      await fc.assert(fc.asyncProperty(typed(), one), IS_SOAK ? { numRuns: 3_000 } : { numRuns: 30, seed: 5 });
    },
  );
});

const EVENT = JSON.stringify({
  event: { id: 'e-1', type: 'account-updater.job.completed', created_at: '2026-01-05T12:00:00Z' },
  data: { id: 'j-1' },
});
const POST = Buffer.from(
  [
    'POST /hooks HTTP/1.1',
    'Host: 127.0.0.1',
    'Content-Type: application/json',
    `Content-Length: ${EVENT.length}`,
    '',
    EVENT,
  ].join('\r\n'),
);

describe('whatever is posted', () => {
  it('R49: a listener takes the next good event all the same', { timeout: 3_600_000 }, async () => {
    const listener = home.start(['events', 'listen', '--port', '0', '-o', 'jsonl']);
    const ended = finished(listener);
    const [text] = (await once(listener.stderr, 'data')) as [Buffer];
    const port = Number(/127\.0\.0\.1:(\d+)/.exec(String(text))?.[1]);
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        await send(port, mutate(POST, list));
        expect(await send(port, POST)).toMatch(/^HTTP\/1\.1 2/);
      }),
      IS_SOAK ? { numRuns: 3_000 } : { numRuns: 25, seed: 7 },
    );
    listener.kill('SIGTERM');
    expect((await ended).code).toBe(143);
  });
});

/** Sends bytes, ends the sending side, and resolves to the response. */
async function send(port: number, bytes: Uint8Array): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += String(chunk)));
  socket.on('error', () => undefined);
  socket.end(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}
