import { expect, it } from 'vitest';
import { logView } from '../../src/logs/view.ts';
import type { Log } from '../../src/schema/log.ts';

const column = logView.columns.find(({ path }) => path === 'message');

it.each([
  ['Card created', 'create', 'card', true],
  ['Cards created', 'create', 'card', true],
  ['card', 'create', 'card', true],
  ['', 'create', 'card', true],
  [undefined, undefined, undefined, true],
  ['Card creation', 'create', 'card', false],
  ['Card created by import', 'create', 'card', false],
  ['Token created', 'create', 'card', false],
  ['created', 'create', null, false],
  ['Card', null, 'cards', false],
  ['Card ed', null, 'card', false],
] as const)('the message %j beside %j and %j is left out: %s', (message, operation, type, repeats) => {
  const log = { created_at: '', message, operation, entity_type: type } as Log;
  expect(column?.repeats?.(log)).toBe(repeats);
});
