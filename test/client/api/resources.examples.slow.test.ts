import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serve } from '../../support/fault-server.ts';
import { json } from '../../support/fault-steps.ts';
import { interfaceExample, INTERFACE_EXAMPLES, shapeOf } from '../../support/interface.ts';
import { svcHere } from '../../support/run-here.ts';
import { temporaryDirectory } from '../../support/directory.ts';

const BY_REQUEST = [...INTERFACE_EXAMPLES.values()];

const COMMANDS = [...INTERFACE_EXAMPLES].flatMap(([name, { command }]) =>
  command === undefined ? [] : [[name, command] as const],
);

const ID = '5f0c4b3a-2918-4706-95e4-d3c2b1a09f8e';

describe('the examples of the interface', () => {
  it.each(COMMANDS)('the examples of the interface are shown with every member: %s', async (name, command) => {
    const server = await serve(({ method, path: target }) => {
      const path = target.split('?')[0]?.replace(ID, '{id}');
      const found = BY_REQUEST.find((other) => other.method === method && other.path === path);
      return json(found?.body ?? {}, found?.status ?? 404);
    });
    const cwd = temporaryDirectory();
    const example = interfaceExample(name);
    writeFileSync(join(cwd, 'request.json'), JSON.stringify(example.request ?? {}));
    const argv = [...command.replace('{id}', ID).split(' '), '-o', 'json'];
    const { code, stdout, stderr } = await svcHere(argv, { baseUrl: server.url, cwd });
    expect([code, stderr.includes('rror')]).toEqual([0, false]);
    const [shown, expected] = [
      stdout,
      JSON.stringify(command.startsWith('api') ? example.body : listed(example.body)),
    ].map((text) => [...shapeOf(JSON.parse(text)).keys()].toSorted());
    expect(shown).toEqual(expect.arrayContaining(expected ?? []));
  });
});

/** Returns what a list shows of a body: the items of a page, or any other body unchanged. */
function listed(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'data' in body ? body.data : body;
}
