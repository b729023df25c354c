import { getNodeValue } from 'jsonc-parser';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonFault, positionOf, readJson } from '../../../src/cli/config/json-text.ts';
import { cases } from '../../support/cases.ts';

function read(text: string): { value: unknown } | { fault: string; line: number; column: number } {
  try {
    return { value: getNodeValue(readJson(text)) };
  } catch (error) {
    if (!(error instanceof JsonFault)) throw error;
    return { fault: error.message, ...positionOf(text, error.at) };
  }
}

function builtIn(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

describe('the JSON reader', () => {
  it('the JSON reader agrees with JSON.parse on what is JSON, for any damage', () => {
    const sample = '{"a":[1,-2.5e3,true],"b":{"c":"x\\u00e9\\n","d":null},"e":""}';
    const damage = fc.record({
      at: fc.nat(sample.length),
      cut: fc.nat(3),
      put: fc.string({
        unit: fc.constantFrom(...Array.from('{}[]",:0159.-+eEtrufalsn\\ \t\n\u0001\u00e9')),
        maxLength: 3,
      }),
    });
    fc.assert(
      fc.property(damage, ({ at, cut, put }) => {
        const text = sample.slice(0, at) + put + sample.slice(at + cut);
        const found = read(text);
        if ('fault' in found && found.fault === 'a name is given twice') return;
        expect('value' in found ? found : undefined).toEqual(builtIn(text));
      }),
      { numRuns: cases(10_000) },
    );
  });
});
