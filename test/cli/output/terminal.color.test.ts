import { describe, expect, it } from 'vitest';
import { createPalette, showsUnicode, wantsColor } from '../../../src/cli/output/terminal.ts';

describe('colour', () => {
  it('color follows the flag, then FORCE_COLOR, then NO_COLOR, then the terminal', () => {
    expect(wantsColor('always', { NO_COLOR: '1', TERM: 'dumb' }, false)).toBe(true);
    expect(wantsColor('never', { FORCE_COLOR: '1' }, true)).toBe(false);
    expect(wantsColor('auto', { FORCE_COLOR: '1', NO_COLOR: '1' }, false)).toBe(true);
    expect(wantsColor('auto', { FORCE_COLOR: '0' }, true)).toBe(false);
    expect(wantsColor('auto', { NO_COLOR: '1' }, true)).toBe(false);
    expect(wantsColor('auto', { NO_COLOR: '' }, true)).toBe(true);
    expect(wantsColor('auto', { TERM: 'dumb' }, true)).toBe(false);
    expect(wantsColor('auto', {}, true)).toBe(true);
    expect(wantsColor('auto', {}, false)).toBe(false);
  });

  it('color is painted where it is wanted, whatever the surroundings of the tests', async () => {
    const on = await createPalette('always', {}, { isTerminal: false });
    expect(on.bad('x')).toBe('\u001b[31mx\u001b[39m');
    const off = await createPalette('auto', {}, { isTerminal: false });
    expect(Object.values(off).map((tone) => tone('x'))).toEqual(Array(7).fill('x'));
  });
});

describe('block characters', () => {
  it('block characters need a UTF-8 locale, or a Windows terminal that has them', () => {
    expect(showsUnicode({ LANG: 'de_DE.UTF-8' }, 'linux')).toBe(true);
    expect(showsUnicode({ LANG: 'de_DE.UTF-8', LC_ALL: 'C' }, 'linux')).toBe(false);
    expect(showsUnicode({}, 'linux')).toBe(false);
    expect(showsUnicode({ WT_SESSION: 'x' }, 'win32')).toBe(true);
  });
});
