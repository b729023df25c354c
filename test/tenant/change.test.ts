import { expect, it } from 'vitest';
import { differences } from '../../src/tenant/change.ts';

it.each([
  ['no settings and settings that are null', { name: 'a' }, { name: 'a', settings: null }, []],
  ['the same settings', { name: 'a', settings: { x: [1] } }, { name: 'a', settings: { x: [1] } }, []],
  ['another name', { name: 'a' }, { name: 'b' }, [{ path: 'name', before: 'a', after: 'b' }]],
  [
    'one setting of two',
    { name: 'a', settings: { x: 1, y: 2 } },
    { name: 'a', settings: { x: 1, y: 3 } },
    [{ path: 'settings.y', before: 2, after: 3 }],
  ],
  [
    'a setting and settings that are null',
    { name: 'a', settings: { x: 1 } },
    { name: 'a', settings: null },
    [{ path: 'settings.x', before: 1, after: undefined }],
  ],
  [
    'settings that are no object',
    { name: 'a', settings: 'none' },
    { name: 'a', settings: {} },
    [{ path: 'settings', before: 'none', after: undefined }],
  ],
])('a change of a tenant names each field that differs: %s', (_, before, after, fields) => {
  expect(differences(before as never, after as never)).toEqual(fields);
});
