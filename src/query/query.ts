import { SvcError } from '../errors.ts';
import { compileError } from './compile-error.ts';
import { type EngineAnswer, JqEngine } from './engine.ts';

/** What came of some entries. */
export interface Outcome {
  /** JSON texts on one line each, in order. */
  readonly outputs: readonly string[];
  /** What went wrong, an entry at a time. */
  readonly errors: readonly string[];
  /** What `debug` and `stderr` wrote. */
  readonly notes: string;
}

// Entries are given to jq some at a time, and each is to be seen by itself.
const PRELUDE = [
  'def input: error("input cannot be used: each entry is seen by itself")',
  'def inputs: empty',
  'def halt: error("halt cannot be used: leave entries out with select or empty")',
  'def halt_error: error("halt_error cannot be used: it would end at some entry, unnoticed")',
  'def halt_error($code): halt_error',
  'def input_filename: null',
  'def input_line_number: 0',
];

/** A jq expression that is known to compile, ready to run. */
export class Query {
  readonly #engine: JqEngine;
  readonly #filter: string;

  private constructor(engine: JqEngine, filter: string) {
    this.#engine = engine;
    this.#filter = filter;
  }

  /** Throws `usage` for an expression that jq cannot take; what was typed is not repeated. */
  static async open(expression: string, signal: AbortSignal): Promise<Query> {
    const engine = await JqEngine.open(signal);
    const filter = `${PRELUDE.join('; ')}; try (\n${expression}\n| [.]) catch {error: .}`;
    try {
      // By itself first, so that what jq says is about what was typed.
      for (const text of [expression, filter]) {
        const answer = await engine.run('', text);
        if ('failure' in answer) throw compileError(answer.failure, await builtinsOf(engine));
      }
      return new Query(engine, filter);
    } catch (error) {
      await engine.close();
      throw error;
    }
  }

  /** Runs it for each of some JSON texts on one line. An entry that fails keeps what it gave before. */
  async run(entries: readonly string[]): Promise<Outcome> {
    const answer = await this.#engine.run(entries.join('\n'), this.#filter);
    if ('failure' in answer) throw stopped(answer);
    const lines = answer.output.split('\n').filter((line) => line !== '');
    return {
      outputs: lines.filter((line) => line.startsWith('[')).map((line) => line.slice(1, -1)),
      errors: lines.filter((line) => line.startsWith('{')).map(errorText),
      notes: answer.notes,
    };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }
}

async function builtinsOf(engine: JqEngine): Promise<string[]> {
  const answer = await engine.run('null', 'builtins');
  return 'output' in answer ? (JSON.parse(answer.output) as string[]) : [];
}

function errorText(line: string): string {
  const { error } = JSON.parse(line) as { readonly error: unknown };
  return typeof error === 'string' ? error : `error ${JSON.stringify(error)}`;
}

function stopped({ failure }: Extract<EngineAnswer, { failure: string }>): SvcError {
  return new SvcError('expression', 'jq gave up on the expression of --jq', {
    hint: 'It may recurse without end, or need more memory than there is.',
    facts: failure === '' ? {} : { jq: failure },
  });
}
