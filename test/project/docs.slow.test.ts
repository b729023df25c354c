import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Block, readBlocks } from '../support/readme-blocks.ts';
import { openShellHome } from '../support/shell-home.ts';
import type { Job, Step } from '../support/workflows.ts';

const docs = fileURLToPath(new URL('../../docs/', import.meta.url));
const pages = readdirSync(docs, { recursive: true, encoding: 'utf8' }).filter(
  (name) => name.endsWith('.md') && name !== 'README.md',
);
const recipes = pages.filter((name) => !name.startsWith('help/') && readBlocks(read(name)).some(isRecipe));

/** A trap that stops what a failed recipe leaves running. */
const AT_THE_END = `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT`;

/** The directory in which the project's action keeps the state by default. */
const STATE = '.svc';

interface Workflow {
  readonly env: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

describe('docs', () => {
  it('README.md leads to every page of the documentation in two steps, by way of the index', () => {
    expect(linksOf('../README.md')).toContain('docs/README.md');
    expect(new Set(linksOf('README.md'))).toEqual(new Set(pages));
  });

  it.each(['../README.md', 'README.md', ...pages])('%s links to files and headings that exist', (name) => {
    const broken = linksOf(name).filter((link) => !exists(join(docs, dirname(name)), link, name));
    expect(broken).toEqual([]);
  });

  // The test of all commands of pci.md runs its blocks too.
  it.each(recipes.filter((name) => name !== 'pci.md'))(
    '%s works as typed, from its first block to its last',
    async (name) => {
      const home = openShellHome();
      const script = readBlocks(read(name)).filter(isRunHere).map(scriptOf).join('\n');
      const { status, stderr } = await home.run(`${AT_THE_END}\n${script}`);
      expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
    },
  );

  it('each command of pci.md, in its tables too, works after its blocks', async () => {
    const text = read('pci.md');
    const inTables = text
      .split('\n')
      .filter((line) => line.startsWith('| '))
      .flatMap((line) => line.split(' | ')[1] ?? []);
    const commands = inTables.flatMap((cell) =>
      [...cell.matchAll(/`(svc [^`]+)`/g)].map(([, command = '']) => command),
    );
    expect(commands.length).toBeGreaterThan(25);
    const home = openShellHome();
    // Exit code 10 reports a finding, such as a day that nobody has signed off.
    const lines = commands.map((line) => `${line} > output || test $? -eq 10 || { echo '${line}' >&2; false; }`);
    const script = [
      AT_THE_END,
      ...readBlocks(text).filter(isRunHere).map(scriptOf),
      'cp auditor/tenant.yaml .',
      ...lines,
    ];
    const { status, stderr } = await home.run(script.join('\n'));
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('pci.md has each number that svc contributes to, and says to check against the standard', () => {
    const text = read('pci.md');
    const numbers = [
      '10.2',
      '10.3',
      '10.4',
      '10.5',
      '10.6',
      '10.7',
      '3.5.1',
      '7.2.4',
      '7.2.5.1',
      '8.6.3',
      '12.8',
      'CC6',
      'CC7',
    ];
    for (const number of numbers)
      expect(text).toMatch(new RegExp(String.raw`^\| (?:[\w., ]+, )?${number.replaceAll('.', String.raw`\.`)}`, 'm'));
    expect(text).toContain('**Check against the standard**');
  });

  it('docs show the pictures that there are, and no others', () => {
    const texts = ['../README.md', ...pages].map(read).join('\n');
    const shown = [...texts.matchAll(/\(docs\/pictures\/([\w.]+)\)/g)].map(([, name]) => name);
    expect(new Set(shown)).toEqual(new Set(readdirSync(join(docs, 'pictures'))));
  });

  it('R58: the workflow submits the export once a month, three months long, though each job is run again', async () => {
    const text = readBlocks(read('account-updater-in-ci.md')).find(({ language }) => language === 'yaml');
    const runner = await openRunner(parse(text?.text ?? '') as Workflow);
    for (const month of ['2030-11', '2030-12', '2031-01']) {
      expect(await runner.job(`${month}-01T00:30:00Z`, 'first')).toContain(`${month}/request.csv`);
      await runner.job(`${month}-01T00:30:00Z`, 'again');
      const files = await runner.job(`${month}-02T06:30:00Z`, 'first');
      expect(files).toEqual(
        expect.arrayContaining(['results.csv', 'report.html', 'todo/replace.csv'].map((name) => `${month}/${name}`)),
      );
      // Once all is done, a job that is run again changes nothing.
      expect(await runner.job(`${month}-10T00:30:00Z`, 'first')).toEqual(files);
    }
    expect(await runner.jobsAtService()).toBe(3);
  });

  it('the workflow installs svc, names the service and the ledger, and saves its files also when a step fails', () => {
    const text = readBlocks(read('account-updater-in-ci.md')).find(({ language }) => language === 'yaml');
    const { env, jobs } = parse(text?.text ?? '') as Workflow;
    expect(Object.keys(env)).toEqual(expect.arrayContaining(['SVC_BASE_URL', 'SVC_LEDGER']));
    const steps = Object.values(jobs).flatMap((job) => job.steps);
    const using = (action: string): Step | undefined => steps.find(({ uses }) => uses?.startsWith(action));
    expect(steps.indexOf(using('./.github/actions/svc')!)).toBeLessThan(
      steps.findIndex(({ run }) => run?.startsWith('svc')),
    );
    // Only these steps see the key; actions of other people do not.
    const withKey = steps.filter(({ env: own }) => own?.['SVC_PRIVATE_API_KEY'] !== undefined);
    expect(withKey.map(({ name }) => name)).toEqual(['refresh']);
    expect(using('actions/cache/save')).toMatchObject({
      if: 'always()',
      with: { path: STATE, key: '${{ steps.svc.outputs.state-key }}' },
    });
    expect(using('actions/upload-artifact')?.if).toContain('always()');
    // The other files join customers to tokens, and whoever can read the workflow could download them.
    expect(using('actions/upload-artifact')?.with?.['path']).toBe(`${STATE}/refresh/*/report.html`);
  });

  it.each(['docs/architecture.md', 'CONTRIBUTING.md', 'README.md'])('%s names files that exist', (name) => {
    const text = read(join('..', name));
    const named = [...text.matchAll(/`((?:src|test|bin|docs)\/[\w./-]+)`/g)].map(([, path = '']) => path);
    expect(named.filter((path) => !existsSync(join(docs, '..', path)))).toEqual([]);
  });

  it('each crontab of docs begins with a PATH, and escapes the percent signs, which cron reads as ends of lines', () => {
    const crontabs = pages.flatMap((name) => readBlocks(read(name)).filter(({ language }) => language === 'crontab'));
    expect(crontabs.length).toBeGreaterThan(2);
    for (const { text } of crontabs) {
      expect(text).toMatch(/^PATH=\S+\n/);
      expect(text).not.toMatch(/(?<!\\)%/);
    }
  });

  it('docs hold no block that is only to be looked at', () => {
    expect(() => scriptOf({ line: 1, language: 'text', marks: [], text: '' })).toThrow('line 1');
  });
});

/** Tells whether a block is part of a recipe. Tests of the library and the archive run blocks of other languages. */
function isRecipe({ language, marks }: Block): boolean {
  return ['sh', 'crontab', 'yaml'].includes(language) && marks.length === 0;
}

/**
 * Tells whether the tests here run a block. Other tests run the marked ones: those that need a bucket, a database, systemd
 * or a cluster. Blocks that need an account, or are typed by hand, are not run.
 */
function isRunHere({ language, marks }: Block): boolean {
  return language !== 'sql' && marks.length === 0;
}

/** Returns the links of a page that lead to files of the project. */
function linksOf(name: string): string[] {
  const text = read(name).replaceAll(/^```.*?^```/gms, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

/** Tells whether a link from a folder leads to a file and, after `#`, to a heading of it. */
function exists(folder: string, link: string, page: string): boolean {
  const [file = '', heading] = link.split('#');
  const path = file === '' ? join(docs, page) : join(folder, file);
  if (!existsSync(path)) return false;
  if (heading === undefined) return true;
  const headings = [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) => anchorOf(text));
  return headings.includes(heading);
}

/** Returns the name that a heading has in links. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

function read(name: string): string {
  return readFileSync(join(docs, name), 'utf8');
}

/** Returns the commands of a block as one script, which names the line of the block when it fails. */
function scriptOf({ language, line, text }: Block): string {
  const trap = `trap 'echo "failed in the block of line ${line}" >&2' ERR`;
  if (language === 'sh') return `${trap}\n${text}`;
  if (language === 'crontab') return [trap, ...text.split('\n').map(commandOfCron)].join('\n');
  if (language === 'yaml') return [trap, ...stepsOf(text)].join('\n');
  throw new Error(`line ${line}: nothing is known of running ${language || 'a block without a language'}`);
}

/** Returns the command after the five fields of a schedule. Cron reads \% in it as a percent sign. */
function commandOfCron(line: string): string {
  if (line.trim() === '' || line.startsWith('#')) return '';
  // The shell that runs the recipes has svc elsewhere.
  if (/^\w+=/.test(line)) return `export ${line.replace(/^PATH=/, 'PATH=$PATH:')}`;
  return line.replace(/^(\S+\s+){5}/, '').replaceAll(String.raw`\%`, '%');
}

/** The variables that the project's action and a runner set, and a `date` that shows the time of the sandbox. */
const ON_A_RUNNER = `export SVC_STATE_DIR=$PWD/${STATE} GITHUB_STEP_SUMMARY=$PWD/summary.md
date() { command date -d "\${SANDBOX_TIME:-now}" "$@"; }`;

/** Returns the commands of a workflow that runs twice, seconds apart, without the settings that contain secrets. */
function stepsOf(text: string): string[] {
  const { env, jobs } = parse(text) as Workflow;
  const settings = Object.entries(env).filter(([, value]) => !value.includes('${{'));
  const steps = Object.values(jobs).flatMap((job) => job.steps.map((step) => commandOfStep(step)));
  const exported = settings.map(([name, value]) => `export ${name}='${value}'`);
  return [ON_A_RUNNER, ...exported, ...steps, 'sleep 3', ...steps];
}

/** Returns the command of a step. It keeps a condition about files. */
function commandOfStep({ if: condition = '', run = '' }: Step): string {
  const [, file] = /hashFiles\('([^']+)'\) != ''/.exec(condition) ?? [];
  return file === undefined || run === '' ? run : `if [ -e '${file}' ]; then ${run}; fi`;
}

/**
 * Opens a runner for the jobs of a workflow, with the embedded sandbox as the service. Each job starts with the files
 * of the repository and the cached state only.
 */
async function openRunner({ jobs }: Workflow) {
  const home = openShellHome();
  const settings = { SVC_PROFILE: 'sandbox', SVC_STATE_DIR: join(home.directory, STATE) };
  const succeed = async (script: string, more: Readonly<Record<string, string>> = {}): Promise<void> => {
    const { status, stderr } = await home.run(script, { ...settings, ...more });
    expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  };
  await succeed('svc sandbox cards --request > export.csv');
  return {
    /** Runs the job at this time. @returns the files of all cycles */
    async job(time: string, attempt: string): Promise<string[]> {
      for (const name of readdirSync(home.directory))
        if (!['.home', STATE, 'export.csv'].includes(name)) rmSync(join(home.directory, name), { recursive: true });
      const steps = Object.values(jobs).flatMap((each) => each.steps.map((step) => commandOfStep(step)));
      const clock = attempt === 'first' ? `svc sandbox clock --at ${time}` : '';
      await succeed([ON_A_RUNNER, clock, ...steps].join('\n'), { SANDBOX_TIME: time });
      expect(readFileSync(join(home.directory, 'summary.md'), 'utf8')).toContain(`"cycle": "${time.slice(0, 7)}"`);
      return readdirSync(join(home.directory, STATE, 'refresh'), { recursive: true, encoding: 'utf8' });
    },
    async jobsAtService(): Promise<number> {
      await succeed('svc au jobs --all --fields id -o csv > jobs');
      return readFileSync(join(home.directory, 'jobs'), 'utf8').trimEnd().split('\n').length - 1;
    },
  };
}
