import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { exampleRequestFile } from '../../src/emulator/vault/cards.ts';
import { SANDBOX_MERCHANT_ID } from '../../src/schema/account-updater-files.ts';
import type { BrokenPromise } from './broken-promise.ts';
import { checkCreations, checkDuration, checkEnd, checkNothingLeaked, checkResultFiles } from './checks.ts';
import { checkExitCode, checkKept } from './evidence.ts';
import { ARCHIVE, type Circumstances, type History, type Step, TAIL, type Weather } from './history.ts';
import { LogWatch } from './log-watch.ts';
import { printedCommands } from './operator.ts';
import { CyclePayments } from './cycle-payments.ts';
import { CYCLE, OTHER_MERCHANT } from './cycles.ts';
import { RESUME_CYCLE } from './machines.ts';
import { REFRESH } from './refreshes.ts';
import { newTokensIn, tokenOf } from './cycle-results.ts';
import { Deliveries } from './deliveries.ts';
import { Payments } from './payments.ts';
import type { Ended, Ending } from './process.ts';
import { claimsIn, keptJobs } from './records.ts';
import { World } from './world.ts';

const FILE = 'tokens.csv';
/** Another request file, and the export from which one is prepared. */
const OTHER = 'other.csv';
const EXPORT = 'export.csv';

/** The merchants of rows: the tenant has not configured the last, so that each of its results is an error. */
const MERCHANTS = ['', SANDBOX_MERCHANT_ID, 'another-shop'];

/** How often the operator tries after all trouble is over. */
const LAST_ROUNDS = 12;

/** Returns how a printed command ends if it would otherwise run forever, or for days. */
function endOf(words: readonly string[], how: 'resume' | 'hint'): Circumstances {
  if (words.includes('tail')) return { ending: { step: 60, how: 'SIGINT' } };
  return how === 'hint' && words.includes('--wait') ? { ending: { step: 200, how: 'SIGINT' } } : {};
}

/**
 * Runs a history, and finishes everything that was begun in it. Returns the story: each command and how it ended.
 * @throws BrokenHistory if a promise is broken
 */
export async function simulate(history: History): Promise<string> {
  const world = await World.begin(history.seed, history.machines);
  const story = new Story(world);
  try {
    if (history.steps.some(losesPower)) world.noteChanges();
    await world.time.until(story.tell(history.steps));
    return story.text;
  } catch (error) {
    throw new BrokenHistory(error, story.text);
  } finally {
    await world.end();
  }
}

/** The error of a history that broke a promise. */
export class BrokenHistory extends Error implements BrokenPromise {
  readonly story: string;

  constructor(cause: unknown, story: string) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.story = story;
  }
}

class Story {
  readonly #world: World;
  readonly #told: string[] = [];
  readonly #background: Promise<unknown>[] = [];
  readonly #logs: LogWatch;
  readonly #payments: Payments;
  readonly #deliveries: Deliveries;
  /** The check of payments by row instead of by file, for histories whose files share rows. */
  #cyclePayments: CyclePayments | undefined;
  readonly #ended: Ended[] = [];
  /** Whether the operator ever accepted unproven results, or got some that could not be compared with a request. */
  #isVouchedFor = false;
  /** Whether anything ever went wrong. */
  #wasTroubled = false;
  #keepsBackups = false;
  /** The rows that files of the cycle ever had. */
  readonly #written = new Set<number>();

  constructor(world: World) {
    this.#world = world;
    this.#logs = new LogWatch(world);
    this.#payments = new Payments(world);
    this.#deliveries = new Deliveries(world);
    const request = world.requestFile(exampleRequestFile());
    const [header = '', ...rows] = request.trimEnd().split('\n');
    for (const on of world.machines.keys()) {
      world.writeFile(FILE, request, on);
      world.writeFile(OTHER, [header, ...rows.toReversed(), ''].join('\n'), on);
      world.writeFile(EXPORT, request.replaceAll(',', ';'), on);
    }
  }

  get #last(): Ended | undefined {
    return this.#ended.at(-1);
  }

  get text(): string {
    const { homes, sharedFolder } = this.#world;
    const text = this.#told.join('\n').replaceAll(sharedFolder, 'FOLDER');
    return homes.reduce((shown, home) => shown.replaceAll(home, '~'), text);
  }

  async tell(steps: readonly Step[]): Promise<void> {
    this.#keepsBackups = steps.some((step) => step.do === 'restore');
    if (steps.some((step) => step.do === 'write')) this.#cyclePayments = new CyclePayments(this.#world);
    for (const step of steps) await this.#take(step);
    await Promise.all(this.#background);
    this.#weather({ faults: [] });
    const isAbout = (group: string): boolean => steps.some((step) => step.do === 'run' && step.type.startsWith(group));
    if (isAbout('au refresh')) return this.#endMachines(EXPORT, `${REFRESH} --timeout 1h`);
    if (this.#world.machines.length > 1)
      return this.#endMachines(FILE, `au submit ${FILE} --cycle ${CYCLE} --wait --timeout 1h --force`);
    if (this.#cyclePayments !== undefined) await this.#endCycle();
    else if (isAbout('au submit')) await this.#endSubmission();
    // The checks after these two commands show that no forgotten job is sent again.
    for (const at of ['by name', undefined] as const) await this.#run(['au', 'resume'], at === undefined ? {} : { at });
    if (isAbout('logs')) await this.#endLogs(isAbout('logs tail'));
  }

  async #take(step: Step): Promise<void> {
    if (step.do !== 'run' && step.do !== 'resume' && step.do !== 'hint') return this.#change(step);
    const words = this.#wordsOf(step);
    if (words === undefined) return;
    // A printed command is typed where it was printed.
    const how = step.do === 'run' ? step : { ...endOf(words, step.do), on: this.#last?.on ?? 0, ...step };
    const running = this.#run(words, how);
    if (step.do !== 'run' || !step.inBackground) return void (await running);
    this.#background.push(running);
    // A failure is thrown at the end of the story, unless an earlier one already ended it.
    running.catch(() => undefined);
  }

  /** Takes a step that is not a command. */
  async #change(step: Exclude<Step, { do: 'run' | 'resume' | 'hint' }>): Promise<void> {
    switch (step.do) {
      case 'pass':
        return this.#pass(step.minutes);
      case 'weather':
        return this.#weather(step);
      case 'damage':
        return this.#damage(step.to);
      case 'restore':
        return this.#restore(step);
      case 'lose':
        return this.#lose(step.on);
      case 'edit':
        return this.#edit(step.file);
      case 'write':
        return this.#write(step);
      case 'swap':
        return this.#swap();
      case 'rotate':
        this.#told.push('the keys are replaced');
        this.#world.adversary.rotations += 1;
        return undefined;
      case 'apply':
        return this.#apply(step);
      case 'crowd':
        this.#told.push('another system submits a hundred files');
        return this.#world.submitAsStranger(100);
      case 'fail':
        this.#told.push('jobs that were completed have failed');
        return this.#world.adversary.failCompleted();
    }
  }

  async #restore({ commands, on }: Extract<Step, { do: 'restore' }>): Promise<void> {
    await Promise.allSettled(this.#background);
    this.#told.push(`the state directory${machineText(on)} is as it was before ${commands} commands`);
    this.#world.machine(on).restoreState(commands);
    this.#wasTroubled = true;
    this.#world.adversary.recordsChanged();
    this.#payments.restored();
  }

  async #lose(on: number | undefined): Promise<void> {
    await Promise.allSettled(this.#background);
    this.#told.push(`the state directory${machineText(on)} is lost`);
    this.#world.machine(on).loseState();
    this.#wasTroubled = true;
    this.#world.adversary.recordsChanged();
  }

  /** Removes the first row of a file that has enough rows. */
  #edit(name: string): void {
    this.#told.push(`${name} is changed`);
    const file = join(this.#world.home, name);
    const [header = '', , ...rows] = readFileSync(file, 'utf8').split('\n');
    if (rows.length > 2) writeFileSync(file, [header, ...rows].join('\n'));
  }

  async #write({ file, rows, changed, capitals = [], on }: Extract<Step, { do: 'write' }>): Promise<void> {
    const machine = this.#world.machine(on);
    await machine.outage;
    // A command that runs has read the file before.
    if (machine.alive.size > 0) await this.#world.time.clock().sleep(1);
    const inCapitals = capitals.length === 0 ? '' : `; in capitals: ${capitals.join(' ')}`;
    this.#told.push(
      `${file}${machineText(on)} has the rows ${rows.join(' ')}; changed: ${changed.join(' ') || 'none'}${inCapitals}`,
    );
    const [header = '', ...all] = exampleRequestFile().trimEnd().split('\n');
    const lines = rows.map((number) => {
      this.#written.add(number);
      const place = number % OTHER_MERCHANT;
      const [token = '', year = '', month = ''] = (all[place] ?? '').split(',');
      const merchant = MERCHANTS[(number - place) / OTHER_MERCHANT] ?? '';
      // The vault does not know such a token, so its result is an error.
      const known = place % 3 === 0 ? token.replace(/^.{8}/, '00000000') : token;
      const name = capitals.includes(number) ? known.toUpperCase() : known;
      return changed.includes(number) ? `${name},39,12,${merchant}` : `${name},${year},${month},${merchant}`;
    });
    const text = [header, ...lines, ''].join('\n');
    this.#world.writeFile(file, file === EXPORT ? text.replaceAll(',', ';') : text, on);
  }

  async #apply({ file, on }: Extract<Step, { do: 'apply' }>): Promise<void> {
    // Nobody writes new tokens into an export while a refresh reads it.
    await Promise.allSettled(this.#background);
    this.#told.push(`${file}${machineText(on)} gets the new tokens`);
    const { home } = this.#world.machine(on);
    const made = newTokensIn([home, join(this.#world.sharedFolder, CYCLE)]);
    const lines = readFileSync(join(home, file), 'utf8').split('\n');
    const applied = lines.map((line) => line.replace(/^[^,;]+/, (token) => made.get(tokenOf(token)) ?? token));
    this.#world.writeFile(file, applied.join('\n'), on);
  }

  #swap(): void {
    this.#told.push(`${FILE} and ${OTHER} are swapped`);
    const { home } = this.#world;
    const moves = [
      [FILE, 'third.csv'],
      [OTHER, FILE],
      ['third.csv', OTHER],
    ] as const;
    for (const [from, to] of moves) renameSync(join(home, from), join(home, to));
  }

  async #pass(minutes: number): Promise<void> {
    this.#told.push(`${minutes} minutes pass`);
    await this.#world.time.clock().sleep(minutes * 60_000);
  }

  #weather({ faults, denies, isCutOff = false }: Weather): void {
    const troubles = [...faults, ...(denies === undefined ? [] : [`jobs are denied, ${denies}`])];
    if (isCutOff) troubles.push('nobody can be reached');
    this.#told.push(`from now on: ${troubles.join(' and ') || 'no trouble'}`);
    this.#world.network.isUp = !isCutOff;
    this.#world.adversary.weather(faults, denies);
  }

  #wordsOf(step: Extract<Step, { do: 'run' | 'resume' | 'hint' }>): string[] | undefined {
    if (step.do === 'resume') return this.#printed();
    if (step.do === 'hint') return this.#hint(step);
    const job = step.type.includes('JOB') ? claimsIn(this.#world).at(-1)?.job : '';
    return job === undefined ? undefined : this.#typed(step.type.replace('JOB', job));
  }

  #typed(line: string): string[] {
    return line.replace('FOLDER', this.#world.sharedFolder).split(' ');
  }

  #damage(to: Extract<Step, { do: 'damage' }>['to']): void {
    const newest = claimsIn(this.#world).at(-1)?.job;
    const kept = keptJobs(this.#world.home).find(({ job, sent }) => job === newest && sent !== '');
    if (kept === undefined) return;
    const file = join(kept.directory, 'sent');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, { empty: '', null: 'null', cut: text.slice(0, text.length / 2), newer: `newer\n${text}` }[to]);
    this.#world.adversary.recordsChanged();
    this.#told.push(`what was recorded of job ${kept.job} is damaged: ${to}`);
  }

  async #run(words: readonly string[], how: Circumstances = {}): Promise<Ended> {
    const { home, backups } = this.#world.machine(how.on);
    const argv = this.#world.machines.length > 1 ? words.map((word) => pathIn(home, word)) : words;
    const number = this.#told.push('') - 1;
    const world = this.#world;
    const rows = this.#cyclePayments?.note(argv, home) ?? [];
    this.#payments.note(argv, world.isBusy);
    this.#isVouchedFor ||= argv.includes('--accept-unproven');
    const submitted = submittedRows(argv, home);
    if (this.#keepsBackups) backups.keep();
    const ended = await world.start(argv, this.#keys(how.keys), how);
    this.#told[number] = lineOf(argv, ended, how);
    // Where the rows of a job are lost with the state directory, its results are delivered with a warning.
    this.#isVouchedFor ||= ended.stderr.includes('were not compared with');
    this.#ended.push(ended);
    this.#logs.note(argv, ended, how);
    checkEnd(argv, ended, how);
    checkDuration(argv, ended);
    checkNothingLeaked(world, ended);
    if (this.#cyclePayments) this.#cyclePayments.check(argv, rows, ended, how.keys);
    else this.#payments.check(ended, how);
    this.#deliveries.check(argv, ended);
    if (!this.#isVouchedFor) checkResultFiles(world);
    checkCreations(world, ended, how);
    if (!this.#isVouchedFor) checkKept(world);
    const { faults, ending, skewMs, isUnmounted } = how;
    this.#wasTroubled ||=
      [faults, ending, skewMs, isUnmounted].some((each) => each !== undefined) || world.adversary.isTroubled;
    checkExitCode(world, {
      argv,
      ended,
      how,
      submitted,
      isVouchedFor: this.#isVouchedFor,
      wasTroubled: this.#wasTroubled,
    });
    return ended;
  }

  #keys(whose: Circumstances['keys'] | 'ours' = 'ours'): Record<string, string> {
    const { rotations } = this.#world.adversary;
    const ours = rotations === 0 ? 'sandbox-KIND-key' : `rotated-KIND-key-${rotations}`;
    const key = { ...OTHER_KEYS, ours }[whose];
    if (key === '') return {};
    const [privateKey, management] = ['private', 'management'].map((kind) => key.replace('KIND', kind));
    return { SVC_PRIVATE_API_KEY: privateKey ?? '', SVC_MANAGEMENT_API_KEY: management ?? '' };
  }

  /** Returns the printed command that the operator types next. Only with `mayPay` can it bill rows again. */
  #printed(mayPay = false): string[] | undefined {
    const commands = this.#last === undefined ? [] : typableIn(this.#last);
    if (mayPay) return commands.at(-1);
    return commands.find((words) => words.every((word) => !PAYS.has(word)) && words[1] !== 'abandon');
  }

  /** Returns the printed commands that the operator types next: one, or each that frees the rows of a job. */
  #nextCommands(mayPay: boolean): string[][] {
    const printed = this.#printed(mayPay);
    if (printed === undefined || this.#last === undefined) return [];
    return printed[1] === 'abandon' ? typableIn(this.#last).filter(([, verb]) => verb === 'abandon') : [printed];
  }

  /** Returns the printed command that a step names, or the last one if there are fewer. */
  #hint({ number, back = 0 }: { readonly number: number; readonly back?: number }): string[] | undefined {
    const printed = this.#ended.map(typableIn).filter((commands) => commands.length > 0);
    const commands = printed.at(-1 - back) ?? [];
    return commands[number] ?? commands.at(-1);
  }

  /**
   * Submits the file after all trouble, and types printed commands until the results are there. In later rounds the
   * operator pays again, because the service may have lost a file that it acknowledged, or the record may be gone.
   */
  async #endSubmission(): Promise<void> {
    const submit = ['au', 'submit', FILE, '--wait', '--timeout', '1h', '--force'];
    for (let round = 0; round < LAST_ROUNDS; round += 1) {
      const mayPay = round > LAST_ROUNDS / 2;
      await this.#run(submit);
      for (let chain = 0; chain < 3 && !this.#hasResults(); chain += 1) {
        for (const printed of this.#nextCommands(mayPay)) await this.#run(printed);
      }
      if (mayPay && !this.#hasResults()) await this.#run([...submit, '--pay-again', '--new-ledger']);
      if (this.#hasResults()) return;
      await this.#pass(60);
    }
    throw new Error('the file never came to its end');
  }

  /** Submits the rest of the cycle after all trouble, and types printed commands that remove obstacles. */
  async #endCycle(): Promise<void> {
    const submit = ['au', 'submit', FILE, '--cycle', CYCLE, '--pay-again', '--new-ledger', '--force'];
    for (let round = 0; round < LAST_ROUNDS; round += 1) {
      await this.#run(['au', 'resume']);
      const { code } = await this.#run(submit);
      if (code === 0) return;
      const printed = typableIn(this.#last as Ended).find((words) => words.every((word) => !PAYS.has(word)));
      if (printed !== undefined) await this.#run(printed);
      await this.#pass(60);
    }
    throw new Error('the cycle never came to its end');
  }

  /**
   * Submits the file of each machine after all trouble, then every row that any file had, and gets the results of the
   * whole cycle on each machine.
   */
  async #endMachines(file: typeof FILE | typeof EXPORT, submit: string): Promise<void> {
    await this.#endWithAll([submit]);
    // A history that was made smaller may have written no row, and no file is submitted without any.
    if (this.#written.size > 0) await this.#write({ do: 'write', file, rows: [...this.#written], changed: [] });
    await this.#endWithAll([submit, RESUME_CYCLE, 'au resume', 'au status']);
  }

  /** Runs commands on each machine until each ends with 0 on all of them. */
  async #endWithAll(lines: readonly string[]): Promise<void> {
    const left = new Set(lines);
    for (let round = 0; left.size > 0; round += 1) {
      if (round === LAST_ROUNDS) throw new Error('the machines never came to their end');
      for (const line of left) {
        const codes: unknown[] = [];
        for (const on of this.#world.machines.keys())
          codes.push(await this.#endWith(line, on, round > LAST_ROUNDS / 2));
        if (codes.every((code) => code === 0)) left.delete(line);
        else break;
      }
      if (left.size > 0) await this.#pass(60);
    }
  }

  /** Runs a command, and the one that it prints unless it ends with 0. Returns the exit code of the first. */
  async #endWith(line: string, on: number, mayAbandon: boolean): Promise<number | undefined> {
    const { code } = await this.#run(this.#typed(line), { on });
    const typable = typableIn(this.#last as Ended).filter((words) => words.every((word) => !PAYS.has(word)));
    const printed = typable.findLast((words) => mayAbandon || words[1] !== 'abandon');
    if (code !== 0 && printed !== undefined) await this.#run(printed, { on });
    return code;
  }

  #hasResults(): boolean {
    // A file that was sent under another name before has its results under that name.
    const names = ['tokens.results.csv', 'other.results.csv', 'results.csv'];
    return this.#last?.code === 0 && names.some((name) => existsSync(join(this.#world.home, name)));
  }

  /** Checks that after all trouble the archive and the tail get every entry. */
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

/** Returns the printed commands of `au` and `logs`, without a prompt: `au abandon` gets `--yes`. */
function typableIn(ended: Ended): string[][] {
  const printed = printedCommands(ended).filter(([group]) => group === 'au' || group === 'logs');
  return printed.map((words) => (words[1] === 'abandon' || words[1] === 'ignore' ? words.concat('--yes') : words));
}

/** The words that let rows be billed again. */
const PAYS: ReadonlySet<string> = new Set(['--pay-again', '--new-ledger', 'ignore']);

/** The keys that an operator may have instead of the tenant's. */
const OTHER_KEYS = {
  theirs: 'their-KIND-key',
  expired: 'sandbox-KIND-key-expired',
  'read-only': 'sandbox-KIND-key-read-only',
  none: '',
} as const;

/** Returns the rows of the file that a command submits; undefined if it submits none. */
function submittedRows(argv: readonly string[], home: string): string[] | undefined {
  const file = resolve(home, argv[2] ?? '');
  if (argv[1] !== 'submit' || !existsSync(file)) return undefined;
  return readFileSync(file, 'utf8').split('\n').slice(1).filter(Boolean);
}

/** Machines of one world run in one process of the test, whose working directory is not theirs. */
function pathIn(home: string, word: string): string {
  return word.endsWith('.csv') ? resolve(home, word) : word;
}

function machineText(on = 0): string {
  return on === 0 ? '' : ` of machine ${on + 1}`;
}

function losesPower(step: Step): boolean {
  return (step.do === 'run' || step.do === 'resume') && step.ending?.power === true;
}

function lineOf(argv: readonly string[], { code, steps, stderr }: Ended, how: Circumstances): string {
  const end = code === undefined ? 'was killed' : `ended with ${code}`;
  const { faults = [], ending, keys, at, skewMs, fullAt, fullFor, isUnmounted = false, on = 0 } = how;
  const circumstances = [
    ...(on === 0 ? [] : [`on machine ${on + 1}`]),
    ...faults,
    ...(ending === undefined ? [] : [endingText(ending)]),
    ...(fullAt === undefined ? [] : [`with a disk that is full from step ${fullAt} on, for ${fullFor ?? 'all'} steps`]),
    ...(isUnmounted ? ['without the volume of the ledger'] : []),
    ...(keys === undefined ? [] : [`with other keys: ${keys}`]),
    ...(at === undefined ? [] : [`at another address: ${at}`]),
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
