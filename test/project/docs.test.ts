import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { type Block, readBlocks } from '../support/readme-blocks.ts';
import { openShellHome } from '../support/shell-home.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const recipes = readdirSync(docs).filter((name) => name.endsWith('.md') && name !== 'README.md');

/** What a recipe leaves running when it fails ends with it. */
const AT_THE_END = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT`;

interface Step {
  readonly if?: string;
  readonly run?: string;
}

interface Workflow {
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>>;
}

describe('docs', () => {
  it('are listed, each of them', () => {
    const listed = [...read('README.md').matchAll(/\]\(([^)]+)\)/g)].map(([, name]) => name);
    expect(new Set(listed)).toEqual(new Set(recipes));
  });

  it.each(recipes)('%s works as typed, from its first block to its last', { timeout: 90_000 }, (name) => {
    const home = openShellHome();
    onTestFinished(() => home.remove());
    const script = readBlocks(read(name)).map(scriptOf).join('\n');
    const { status, stderr } = home.run(`${AT_THE_END}\n${script}`);
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('show the pictures that there are, and no others', () => {
    const texts = ['../README.md', ...recipes].map(read).join('\n');
    const shown = [...texts.matchAll(/\(docs\/pictures\/([\w.]+)\)/g)].map(([, name]) => name);
    expect(new Set(shown)).toEqual(new Set(readdirSync(join(docs, 'pictures'))));
  });

  it('hold no block that is only to be looked at', () => {
    expect(() => scriptOf({ line: 1, language: 'text', marks: [], text: '' })).toThrow('line 1');
  });
});

function read(name: string): string {
  return readFileSync(join(docs, name), 'utf8');
}

/** What a block does, each command followed by the next; a failure says the line of the block. */
function scriptOf({ language, line, text }: Block): string {
  const trap = `trap 'echo "failed in the block of line ${line}" >&2' ERR`;
  if (language === 'sh') return `${trap}\n${text}`;
  if (language === 'crontab') return [trap, ...text.split('\n').map(commandOfCron)].join('\n');
  if (language === 'yaml') return [trap, ...stepsOf(text)].join('\n');
  throw new Error(`line ${line}: nothing is known of running ${language || 'a block without a language'}`);
}

/** The command behind the five fields of a schedule, in which cron takes \% for a per cent sign. */
function commandOfCron(line: string): string {
  if (line.trim() === '' || line.startsWith('#')) return '';
  if (/^\w+=/.test(line)) return `export ${line}`;
  return line.replace(/^(\S+\s+){5}/, '').replaceAll(String.raw`\%`, '%');
}

/** A workflow, run now and again after a while, with the settings that hold no secret. */
function stepsOf(text: string): string[] {
  const { env, jobs } = parse(text) as Workflow;
  const settings = Object.entries(env).filter(([, value]) => !value.includes('${{'));
  const steps = Object.values(jobs).flatMap((job) => job.steps.map(commandOfStep));
  return [...settings.map(([name, value]) => `export ${name}='${value}'`), ...steps, 'sleep 3', ...steps];
}

/** Of the conditions, those about files are kept; a step of a certain schedule is run. */
function commandOfStep({ if: condition = '', run = '' }: Step): string {
  const [, file] = /hashFiles\('([^']+)'\) != ''/.exec(condition) ?? [];
  return file === undefined ? run : `if [ -e '${file}' ]; then ${run}; fi`;
}
