// Runs jq expressions in a worker thread.

import { Worker } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import { SvcError } from '../../base/errors.ts';
import { ownMember } from '../../schema/own-member.ts';

/** The result of an expression for a batch of entries. */
export interface QueryResult {
  /** Output values as JSON, one per line, in order. */
  readonly outputs: readonly string[];
  /** Errors, one per entry. */
  readonly errors: readonly string[];
  /** Output of the jq functions `debug` and `stderr`. */
  readonly notes: string;
}

// jq reads a batch of entries in one run. These definitions keep the expression from reading or ending beyond its entry.
const PRELUDE = [
  'def input: error("input cannot be used: each entry is seen by itself")',
  'def inputs: empty',
  'def halt: error("halt cannot be used: leave entries out with select or empty")',
  'def halt_error: error("halt_error cannot be used: it would end at some entry, unnoticed")',
  'def halt_error($code): halt_error',
  'def input_filename: null',
  'def input_line_number: 0',
];

/** A compiled jq expression. */
export class Query {
  readonly #engine: JqEngine;
  readonly #filter: string;

  private constructor(engine: JqEngine, filter: string) {
    this.#engine = engine;
    this.#filter = filter;
  }

  /** Compiles an expression. Throws `usage` for an invalid one, without repeating it. */
  static async open(expression: string, signal: AbortSignal): Promise<Query> {
    const engine = await JqEngine.open(signal);
    const filter = `${PRELUDE.join('; ')}; try (\n${expression}\n| [.]) catch {error: .}`;
    try {
      // First compiles the expression alone, so that jq's error is about the typed text.
      for (const text of [expression, filter]) {
        const result = await engine.run('', text);
        if ('failure' in result) throw compileError(result.failure);
      }
      return new Query(engine, filter);
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /**
   * Runs the expression on each entry, a JSON text on one line. Outputs of an entry before its error are kept. An entry that
   * jq cannot parse counts as an error.
   */
  async run(entries: readonly string[]): Promise<QueryResult> {
    const result = await this.#engine.run(entries.map(withoutLoneSurrogates).join('\n'), this.#filter);
    if (!('failure' in result)) return resultOf(result);
    const [, problem] = /^jq: parse error: (.*?)(?: at line \d+, column \d+)?$/m.exec(result.failure) ?? [];
    if (problem === undefined) throw gaveUp(result.failure);
    if (entries.length <= 1) return { outputs: [], errors: [`jq cannot read the entry: ${problem}`], notes: '' };
    // jq stopped at an entry that it cannot parse, so each entry runs separately.
    const outcomes: QueryResult[] = [];
    for (const entry of entries) outcomes.push(await this.run([entry]));
    return {
      outputs: outcomes.flatMap(({ outputs }) => outputs),
      errors: outcomes.flatMap(({ errors }) => errors),
      notes: outcomes.flatMap(({ notes }) => (notes === '' ? [] : [notes])).join('\n'),
    };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

function resultOf({ output, notes }: { readonly output: string; readonly notes: string }): QueryResult {
  const lines = output.split('\n').filter((line) => line !== '');
  return {
    outputs: lines.filter((line) => line.startsWith('[')).map((line) => line.slice(1, -1)),
    errors: lines.filter((line) => line.startsWith('{')).map(errorText),
    notes,
  };
}

function gaveUp(failure: string): SvcError {
  return new SvcError('expression', 'jq gave up on the expression', {
    hint: 'The expression may recurse endlessly, or need too much memory.',
    facts: failure === '' ? {} : { jq: failure },
  });
}

/** Replaces lone surrogates, which jq refuses, by the replacement character U+FFFD. */
function withoutLoneSurrogates(json: string): string {
  if (!/\\u[dD][89a-fA-F]/.test(json)) return json;
  return json.replaceAll(/\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|u[dD][89a-fA-F]..|[^])/g, (escape) =>
    escape.length === 6 ? String.raw`\ufffd` : escape,
  );
}

function errorText(line: string): string {
  const { error } = JSON.parse(line) as { readonly error: unknown };
  return typeof error === 'string' ? error : `error ${JSON.stringify(error)}`;
}

/** The result of one run of jq. */
type EngineResult =
  | { readonly output: string; readonly notes: string }
  /** `failure` is jq's stderr. */
  | { readonly failure: string };

/** jq in a worker thread, so that an endless filter cannot block Ctrl-C. */
class JqEngine {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  readonly #end = (): void => void this.#worker.terminate();

  private constructor(worker: Worker, signal: AbortSignal) {
    this.#worker = worker;
    this.#signal = signal;
    signal.addEventListener('abort', this.#end, { once: true });
  }

  /** Starts the thread, which ends with `close`, or when `signal` aborts. */
  static async open(signal: AbortSignal): Promise<JqEngine> {
    signal.throwIfAborted();
    const { program, wasm } = await import('#jq');
    const worker = new Worker(program, {
      eval: true,
      workerData: { wasmBinary: brotliDecompressSync(Buffer.from(wasm, 'base64')), thisProgram: 'jq' },
      env: {},
      stdin: true,
      stdout: true,
      stderr: true,
    });
    const engine = new JqEngine(worker, signal);
    try {
      await engine.#next();
      return engine;
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Runs a filter on JSON texts, one per line, and returns its outputs, one per line. Runs must not overlap. */
  async run(input: string, filter: string): Promise<EngineResult> {
    this.#signal.throwIfAborted();
    this.#worker.postMessage({ input, filter }, []);
    return (await this.#next()) as EngineResult;
  }

  /** Terminates the thread. */
  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#end);
    await this.#worker.terminate();
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        this.#worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        settle();
      };
      const onMessage = (message: unknown): void => end(() => resolve(message));
      const onError = (error: Error): void => end(() => reject(broken(error)));
      const onExit = (): void => end(() => reject((this.#signal.reason as Error) ?? broken()));
      this.#worker.once('message', onMessage).once('error', onError).once('exit', onExit);
    });
  }
}

function broken(cause?: Error): SvcError {
  return new SvcError('expression', 'jq ended unexpectedly', {
    hint: 'The expression may need too much memory. Try it on fewer entries.',
    cause,
  });
}

/** Rewrites jq's compile error without the typed text, which may be a key pasted into the wrong place. */
function compileError(stderr: string): SvcError {
  return new SvcError('usage', `not a jq expression: ${problemIn(stderr.replace(/^jq: error: /, ''))}`, {
    hint: "Such as '.id', or 'select(.status == \"failed\") | .id'.",
    next: ['help', 'output'],
  });
}

function problemIn(text: string): string {
  if (/^[\w:]+\/\d+ is not defined/.test(text))
    return 'it calls a function that jq does not have, or with another number of arguments';
  if (/^\$[\w:*-]+ is not defined/.test(text)) return 'it uses a variable that it does not define';
  const [, unexpected] = /^syntax error, unexpected ('.'|end of file|\w+)/.exec(text) ?? [];
  if (unexpected === undefined) return 'jq cannot parse it';
  return `syntax error at ${ownMember(TOKEN_NAMES, unexpected) ?? unexpected}`;
}

// Names for tokens of jq's grammar, which are safe to show.
const TOKEN_NAMES: Readonly<Record<string, string>> = {
  IDENT: 'a name',
  FIELD: 'a field',
  LITERAL: 'a number',
  BINDING: 'a variable',
  INVALID_CHARACTER: 'a character that cannot stand there',
  QQSTRING_START: 'a text',
  QQSTRING_TEXT: 'a text',
  end: 'its end',
};
