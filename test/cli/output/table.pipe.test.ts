import { expect, it, vi } from 'vitest';
import { svcHere } from '../../support/run-here.ts';

const loaded: string[] = [];

vi.mock('cli-table3', async (original) => {
  loaded.push('cli-table3');
  return original();
});
vi.mock('ora', async (original) => {
  loaded.push('ora');
  return original();
});

it('a table in a pipe is drawn without cli-table3 or ora, and one on a terminal with cli-table3', async () => {
  const piped = await svcHere(['sandbox', 'cards', '-o', 'table']);
  expect({ lines: piped.stdout.split('\n').length > 10, loaded }).toEqual({ lines: true, loaded: [] });
  const { stdout } = await svcHere(['sandbox', 'cards', '--color', 'never'], { columns: 200 });
  expect({ stdout, loaded }).toEqual({ stdout: piped.stdout, loaded: ['cli-table3'] });
});
