import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { exampleRequestFile } from '../../src/sandbox/vault/cards.ts';
import type { Denial } from './adversary.ts';
import { checkCreations, checkEnd, checkNothingLeaked, checkUploads, type Permitted } from './checks.ts';
import { ARCHIVE, type Circumstances, type History, type Step, TAIL } from './history.ts';
import { LogWatch } from './log-watch.ts';
import { printedCommands } from './operator.ts';
import type { Ended, Ending } from './process.ts';
import { runDirectories } from './records.ts';
import { World } from './world.ts';

const OUR_KEYS = { SVC_PRIVATE_API_KEY: 'sandbox-private-key', SVC_MANAGEMENT_API_KEY: 'sandbox-management-key' };
const THEIR_KEYS = { SVC_PRIVATE_API_KEY: 'their-private-key', SVC_MANAGEMENT_API_KEY: 'their-management-key' };

const FILE = 'tokens.csv';
/** How often the operator tries, once all trouble is over. */
const LAST_ROUNDS = 12;

/** A tail that was typed as printed has no end of its own. */
const STOPPED = { step: 60, how: 'SIGINT' } as const;

/**
 * Lives through a history, and then to the end of everything begun in it. Returns what was typed and how it ended;
 * throws that with the promise that did not hold.
 */
export async function simulate(history: History): Promise<string> {
  const world = await World.begin(history.seed);
  const story = new Story(world);
  try {
    if (history.steps.some(losesPower)) world.noteChanges();
    await world.time.until(story.tell(history.steps));
    return story.text;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${story.text}`, { cause: error });
  } finally {
    await world.end();
  }
}

class Story {
  readonly #world: World;
  readonly #told: string[] = [];
  readonly #background: Promise<unknown>[] = [];
  readonly #logs: LogWatch;
  readonly #permitted: Permitted = { cycles: new Set(), again: 0 };
  #last: Ended | undefined;

  constructor(world: World) {
    this.#world = world;
    this.#logs = new LogWatch(world);
    world.writeFile(FILE, world.requestFile(exampleRequestFile()));
  }

  get text(): string {
    return this.#told.join('\n').replaceAll(this.#world.home, '~');
  }

  async tell(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#take(step);
    await Promise.all(this.#background);
    this.#weather([]);
    const isAbout = (group: string): boolean => steps.some((step) => step.do === 'run' && step.type.startsWith(group));
    if (isAbout('au submit')) await this.#endSubmission();
    if (isAbout('logs')) await this.#endLogs(isAbout('logs tail'));
  }

  async #take(step: Step): Promise<void> {
    if (step.do === 'pass') return this.#pass(step.minutes);
    if (step.do === 'weather') return this.#weather(step.faults, step.denies);
    if (step.do === 'damage') return this.#damage(step.to);
    const words = step.do === 'run' ? this.#wordsOf(step.type) : this.#printed();
    if (words === undefined) return;
    const isEndless = step.do === 'resume' && words.includes('tail');
    const running = this.#run(words, isEndless ? { ending: STOPPED, ...step } : step);
    if (step.do === 'resume' || !step.inBackground) return void (await running);
    this.#background.push(running);
    // Its failure is met at the end, or came after another.
    running.catch(() => undefined);
  }

  async #pass(minutes: number): Promise<void> {
    this.#told.push(`${minutes} minutes pass`);
    await this.#world.time.clock().sleep(minutes * 60_000);
  }

  #weather(faults: readonly string[], denies?: Denial): void {
    const troubles = [...faults, ...(denies === undefined ? [] : [`jobs are denied, ${denies}`])];
    this.#told.push(`from now on: ${troubles.join(' and ') || 'no trouble'}`);
    this.#world.adversary.weather(faults, denies);
  }

  #wordsOf(line: string): string[] | undefined {
    const run = line.includes('RUN') ? this.#newestRun() : '';
    return run === undefined ? undefined : line.replace('RUN', run).split(' ');
  }

  #newestRun(): string | undefined {
    const runs = runDirectories(this.#world.home).map((directory) => basename(directory));
    return runs.findLast((name) => name.startsWith('run-'));
  }

  #damage(to: Extract<Step, { do: 'damage' }>['to']): void {
    const run = this.#newestRun();
    const directory = runDirectories(this.#world.home).find((each) => basename(each) === run) ?? '';
    const file = join(directory, 'run.json');
    if (run === undefined || !existsSync(file)) return;
    const text = readFileSync(file, 'utf8');
    const newer = text.replace('"version": 1', '"version": 2').replace('"version":1', '"version":2');
    writeFileSync(file, { empty: '', null: 'null', cut: text.slice(0, text.length / 2), newer }[to]);
    this.#told.push(`the record of ${run} is damaged: ${to}`);
  }

  async #run(argv: readonly string[], how: Circumstances = {}): Promise<Ended> {
    const number = this.#told.push('') - 1;
    this.#permit(argv);
    const keys = how.keys === 'theirs' ? THEIR_KEYS : OUR_KEYS;
    const ended = await this.#world.start(argv, keys, how);
    this.#told[number] = lineOf(argv, ended, how);
    this.#last = ended;
    this.#logs.note(argv, ended, how);
    checkEnd(argv, ended, how);
    checkNothingLeaked(this.#world, ended, [...Object.values(OUR_KEYS), ...Object.values(THEIR_KEYS)]);
    checkUploads(this.#world, this.#permitted);
    checkCreations(this.#world, ended, how);
    return ended;
  }

  /** Counts what the operator lets be paid for. */
  #permit(argv: readonly string[]): void {
    const { cycles } = this.#permitted;
    if (argv[1] === 'submit') cycles.add(argv[argv.indexOf('--cycle') + 1] ?? '');
    if (argv.includes('--again') || argv[1] === 'abandon') this.#permitted.again += 1;
  }

  /** What the operator would type next; nothing that pays again while that can be helped. */
  #printed(mayPay = false): string[] | undefined {
    if (this.#last === undefined) return undefined;
    const printed = printedCommands(this.#last).filter(([group]) => group === 'au' || group === 'logs');
    // Here nobody can be asked.
    const commands = printed.map((words) => (words[1] === 'abandon' ? words.concat('--yes') : words));
    if (mayPay) return commands.at(-1);
    return commands.find((words) => !words.includes('--again') && words[1] !== 'abandon');
  }

  /**
   * The trouble is over: whoever types what is printed gets the results. Where the service has no file that it
   * acknowledged, or the record is gone, the operator has the last word.
   */
  async #endSubmission(): Promise<void> {
    const submit = ['au', 'submit', FILE, '--wait', '--timeout', '1h', '--force'];
    for (let round = 0; round < LAST_ROUNDS; round += 1) {
      const mayPay = round > LAST_ROUNDS / 2;
      await this.#run(submit);
      for (let chain = 0; chain < 3 && !this.#hasResults(); chain += 1) {
        const printed = this.#printed(mayPay);
        if (printed !== undefined) await this.#run(printed);
      }
      if (mayPay && !this.#hasResults()) await this.#run([...submit, '--again']);
      if (this.#hasResults()) return;
      await this.#pass(60);
    }
    throw new Error('the file never came to its end');
  }

  #hasResults(): boolean {
    const names = ['tokens.results.csv', 'results.csv'];
    return this.#last?.code === 0 && names.some((name) => existsSync(join(this.#world.home, name)));
  }

  /** The trouble is over: the archive and the tail come to hold every entry. */
  async #endLogs(hasTail: boolean): Promise<void> {
    await this.#pass(5);
    await this.#run(ARCHIVE.split(' '));
    const verified = await this.#run(['logs', 'verify', 'audit']);
    await this.#logs.checkArchive(verified, await this.#run('logs search audit -o jsonl'.split(' ')));
    if (!hasTail) return;
    await this.#run(`${TAIL} --for 5m`.split(' '));
    await this.#logs.checkTail();
  }
}

function losesPower(step: Step): boolean {
  return (step.do === 'run' || step.do === 'resume') && step.ending?.power === true;
}

function lineOf(argv: readonly string[], { code, steps, stderr }: Ended, how: Circumstances): string {
  const end = code === undefined ? 'was killed' : `ended with ${code}`;
  const { faults = [], ending, keys, skewMs, fullAt } = how;
  const circumstances = [
    ...faults,
    ...(ending === undefined ? [] : [endingText(ending)]),
    ...(fullAt === undefined ? [] : [`with a disk that is full from step ${fullAt} on`]),
    ...(keys === undefined ? [] : ['with the keys of another tenant']),
    ...(skewMs === undefined ? [] : [`with a clock that is ${skewMs / 3_600_000} hours off`]),
  ];
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  const lines = [...circumstances, last.slice(0, 400)].map((line) => `    ${line}`);
  return [`svc ${argv.join(' ')} ${end} after ${steps} steps`, ...lines].join('\n');
}

function endingText({ how, step, since, onWire, power }: Ending): string {
  const steps = `${onWire ? 'exchange of bytes' : 'step'} ${step}${since === undefined ? '' : ` since the first ${since}`}`;
  return `${how} ${steps}${power ? ', with the power of the machine' : ''}`;
}
