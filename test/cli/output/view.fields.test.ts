import { describe, expect, it } from 'vitest';
import { SvcError } from '../../../src/base/errors.ts';
import { chooseFields, leafPaths, pickPaths, replaceAt, valueAt } from '../../../src/cli/output/view.ts';
import { entryView } from './views.ts';

function refusal(list: string): SvcError {
  try {
    chooseFields(entryView, list);
  } catch (error) {
    if (error instanceof SvcError) return error;
  }
  throw new Error('nothing was refused');
}

describe('chooseFields', () => {
  it('chooseFields gives nothing without a list, and each path once', () => {
    expect(chooseFields(entryView, undefined)).toBeUndefined();
    expect(chooseFields(entryView, 'id, message,id')).toEqual(['id', 'message']);
    expect(chooseFields(entryView, 'entity,settings,settings.any_key')).toEqual([
      'entity',
      'settings',
      'settings.any_key',
    ]);
  });

  it('chooseFields takes any field that is marked with +, and no other that is unknown', () => {
    expect(chooseFields(entryView, 'id,+new_member,+deep.new, +id')).toEqual(['id', 'new_member', 'deep.new']);
    for (const list of ['+', 'id,+', '+a..b', '+.a', 'new_member', 'a+']) expect(refusal(list).code).toBe('usage');
    expect(refusal('new_member').hint).toContain('+name');
  });

  it('chooseFields refuses an unknown field with the known ones and the nearest', () => {
    const error = refusal('id,mesage');
    expect(error.code).toBe('usage');
    expect(error.message).toBe('unknown field "mesage" of this log entry');
    expect(error.hint).toContain("Did you mean 'message'?");
    expect(error.hint).toContain('id, created_at, operation');
  });

  it('R05: chooseFields does not repeat what is nothing like a field: it might be a key', () => {
    const error = refusal('id,key_pvt_5fN2canary');
    expect(error.message).toBe('unknown field (not shown: it may be a secret) of this log entry');
    expect(`${error.message} ${error.hint} ${JSON.stringify(error.facts)}`).not.toContain('canary');
  });

  it('chooseFields refuses empty items and the parts of names', () => {
    for (const list of ['', 'id,', 'settings.', 'entity.', 'entity.idx.y', 'i d'])
      expect(refusal(list).code).toBe('usage');
  });
});

describe('paths', () => {
  it('paths read, pick and replace own members only', () => {
    expect(valueAt({ a: { b: [1] } }, 'a.b')).toEqual([1]);
    expect(valueAt({}, 'constructor.name')).toBeUndefined();
    expect(valueAt({ a: 'text' }, 'a.length')).toBeUndefined();
    expect(JSON.stringify(pickPaths(JSON.parse('{"__proto__":{"x":1},"a":2}'), ['__proto__.x', 'a']))).toBe(
      '{"__proto__":{"x":1},"a":2}',
    );
    expect(({} as Record<string, unknown>)['x']).toBeUndefined();
    expect(replaceAt({ a: null, b: [{ c: 's' }, { d: 1 }] }, ['a', 'b.c', 'z'], '*')).toEqual({
      a: null,
      b: [{ c: '*' }, { d: 1 }],
    });
  });

  it('paths find members whose names contain dots, the longest name first', () => {
    const row = { 'a.b': 1, a: { b: 2, c: 3 }, d: { 'e.f': { 'g.h': 4 } }, '.': 5 };
    expect(['a.b', 'a.c', 'd.e.f.g.h', '.', 'd.e', 'a.b.c', 'a.'].map((path) => valueAt(row, path))).toEqual([
      1,
      3,
      4,
      5,
      undefined,
      undefined,
      undefined,
    ]);
    expect(pickPaths(row, ['d.e.f.g.h', 'a.b'])).toEqual({ d: { 'e.f': { 'g.h': 4 } }, 'a.b': 1 });
    const { 'a.b': _, ...rest } = row;
    expect(leafPaths(rest).map((path) => valueAt(rest, path))).toEqual([2, 3, 4, 5]);
  });

  it('paths list the leaves in order, empty objects among them', () => {
    expect(leafPaths({ a: { b: 1, c: {} }, d: [{}] })).toEqual(['a.b', 'a.c', 'd']);
    expect(leafPaths('text')).toEqual([]);
  });
});
