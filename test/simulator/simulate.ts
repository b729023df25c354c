import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exampleRequestFile } from '../../src/sandbox/vault/cards.ts';
import { EXIT_CODES } from '../../src/errors.ts';
import { uploadsTaken } from '../account-updater/support.ts';
import type { History, Step } from './history.ts';
import { printedCommands } from './operator.ts';
import type { Ended, Ending } from './process.ts';
import { World } from './world.ts';

const KEYS = {
  SVC_PRIVATE_API_KEY: 'sandbox-private-key',
  SVC_MANAGEMENT_API_KEY: 'sandbox-management-key',
};

const FILE = 'tokens.csv';

const KNOWN_CODES: ReadonlySet<number> = new Set([0, ...Object.values(EXIT_CODES)]);

/** How often the operator tries, once all trouble is over. */
const LAST_ROUNDS = 12;

/** What went wrong in a history, and the commands that led to it. */
class Broken extends Error {
  constructor(problem: string, story: readonly string[]) {
    super([problem, ...story].join('\n'));
  }
}

/** Lives through a history, and then to the end of everything begun in it. Throws when a promise does not hold. */
export async function simulate(history: History): Promise<void> {
  const world = await World.begin(history.seed);
  const story = new Story(world);
  try {
    await world.time.until(story.tell(history.steps));
  } finally {
    await world.end();
  }
}

class Story {
  readonly #world: World;
  readonly #told: string[] = [];
  readonly #background: Promise<unknown>[] = [];
  #last: Ended | undefined;
  /** How often the operator said that a file is to be paid for again. */
  #again = 0;

  constructor(world: World) {
    this.#world = world;
    world.writeFile(FILE, exampleRequestFile());
  }

  async tell(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#take(step);
    await Promise.all(this.#background);
    await this.#comeToAnEnd();
  }

  async #take(step: Step): Promise<void> {
    const { time } = this.#world;
    if (step.do === 'pass') {
      this.#told.push(`— ${step.minutes} minutes —`);
      return time.clock().sleep(step.minutes * 60_000);
    }
    const words = step.do === 'run' ? step.type.split(' ') : this.#printed();
    if (words === undefined) return;
    const running = this.#run(words, step);
    if (step.do === 'run' && step.inBackground) this.#background.push(running);
    else await running;
  }

  async #run(argv: readonly string[], { faults = [], ending }: Trouble = {}): Promise<Ended> {
    const number = this.#told.push('') - 1;
    if (argv.includes('--again')) this.#again += 1;
    const ended = await this.#world.start(argv, { env: KEYS, faults, ending });
    this.#told[number] = lineOf(argv, ended, { faults, ending });
    this.#last = ended;
    this.#check(argv, ended);
    return ended;
  }

  /** What the operator would type next; nothing that pays again while that can be helped. */
  #printed(mayPay = false): string[] | undefined {
    if (this.#last === undefined) return undefined;
    const commands = printedCommands(this.#last);
    if (mayPay) return commands.findLast(([group]) => group === 'au');
    return commands.find(
      (words) => words[0] === 'au' && !words.includes('--again') && words[1] !== 'abandon',
    );
  }

  /** The trouble is over: whoever types what is printed gets the results. */
  async #comeToAnEnd(): Promise<void> {
    for (let round = 0; round < LAST_ROUNDS; round += 1) {
      const mayPay = round > LAST_ROUNDS / 2;
      await this.#run(['au', 'submit', FILE, '--wait', '--timeout', '1h']);
      for (let chain = 0; chain < 4 && !this.#isDone(); chain += 1) {
        const printed = this.#printed(mayPay);
        if (printed !== undefined) await this.#run(printed);
      }
      if (this.#isDone()) return;
      await this.#world.time.clock().sleep(3_600_000);
    }
    this.#fail('the file never came to its end');
  }

  #isDone(): boolean {
    return this.#last?.code === 0 && existsSync(this.#results);
  }

  get #results(): string {
    return join(this.#world.home, 'tokens.results.csv');
  }

  #check(argv: readonly string[], { code, stderr, stdout }: Ended): void {
    if (code !== undefined && !KNOWN_CODES.has(code)) this.#fail(`exit code ${code} is not documented`);
    if (code === 1) this.#fail(`exit code 1 with a disk in order: ${stderr}`);
    if (code === 2) this.#fail(`exit code 2 for ${argv.join(' ')}: ${stderr}`);
    for (const key of Object.values(KEYS))
      if (stdout.includes(key) || stderr.includes(key)) this.#fail('a key was printed');
    const { leaks } = this.#world.adversary;
    const { strangers } = this.#world.network;
    if (leaks.length + strangers.length > 0)
      this.#fail(`connections that nobody may make: ${[...leaks, ...strangers].join(', ')}`);
    const jobs = uploadsTaken(this.#world.serviceDirectory);
    if (jobs.length > 1 + this.#again) this.#fail(`the file was taken ${jobs.length} times`);
    if (existsSync(this.#results) && !this.#areResultsOf(jobs))
      this.#fail('the results are not those of the service');
  }

  #areResultsOf(jobs: readonly string[]): boolean {
    const kept = readFileSync(this.#results);
    return jobs.some((job) =>
      kept.equals(readFileSync(join(this.#world.serviceDirectory, 'files', `result-${job}.csv`))),
    );
  }

  #fail(problem: string): never {
    throw new Broken(problem, this.#told);
  }
}

interface Trouble {
  readonly faults?: readonly string[];
  readonly ending?: Ending | undefined;
}

function lineOf(
  argv: readonly string[],
  { code, steps, stderr }: Ended,
  { faults = [], ending }: Trouble,
): string {
  const how = code === undefined ? 'was killed' : `ended with ${code}`;
  const last = stderr.trimEnd().split('\n').at(-1) ?? '';
  const trouble = [...faults, ...(ending === undefined ? [] : [`${ending.how} at step ${ending.step}`])];
  return [
    `svc ${argv.join(' ')} ${how} after ${steps} steps`,
    ...[...trouble, last.slice(0, 300)].map((line) => `    ${line}`),
  ].join('\n');
}
