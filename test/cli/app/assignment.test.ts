import { describe, expect, it } from 'vitest';
import { withAssignments, jsonAssignment, textAssignment } from '../../../src/cli/app/assignment.ts';

describe('values put into a body', () => {
  it('values put into a body make objects on the way and leave the rest alone', () => {
    const body = { a: { b: 1 }, list: [{ x: 1 }, 2] };
    const result = withAssignments(body, [
      textAssignment('a.c.d=text=with=signs'),
      textAssignment('empty='),
      jsonAssignment('a.b={"n":[true,null]}'),
      jsonAssignment('list.0.x=5'),
      jsonAssignment('list.2="new"'),
    ]);
    expect(result).toEqual({
      a: { b: { n: [true, null] }, c: { d: 'text=with=signs' } },
      empty: '',
      list: [{ x: 5 }, 2, 'new'],
    });
    expect(body).toEqual({ a: { b: 1 }, list: [{ x: 1 }, 2] });
  });

  it('values put into a body make a body where there is none, and none where nothing is put', () => {
    expect(withAssignments(undefined, [textAssignment('a.0=x')])).toEqual({ a: { 0: 'x' } });
    expect(withAssignments(undefined, [])).toBeUndefined();
  });

  it('values put into a body take every name for a name', () => {
    const result = withAssignments({}, [textAssignment('__proto__.polluted=x'), textAssignment('constructor.y=z')]);
    expect(JSON.stringify(result)).toBe('{"__proto__":{"polluted":"x"},"constructor":{"y":"z"}}');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each(['a.b=x', 'list.5=x', 'list.x=y', 'none.x=y'])('the assignment %s does not fit the body', (typed) => {
    const body = { a: 'text', list: [1], none: null };
    expect(() => withAssignments(body, [textAssignment(typed)])).toThrowError(
      expect.objectContaining({ code: 'refused_input' }),
    );
  });

  it.each(['', '=x', 'a', 'a..b=x', '.a=x', 'a.=x'])('"%s" is no assignment', (typed) => {
    expect(() => textAssignment(typed)).toThrowError(expect.objectContaining({ code: 'usage' }));
  });

  it.each(['a=', 'a=x', 'a={', "a='x'", 'a=1 2'])('"%s" holds no JSON, and is not repeated', (typed) => {
    expect(() => jsonAssignment(typed)).toThrowError(/^must be a path, =, and JSON/);
  });
});
