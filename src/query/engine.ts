import { Worker } from 'node:worker_threads';
import { brotliDecompressSync } from 'node:zlib';
import { SvcError } from '../errors.ts';

/** What jq said to one run of a filter. */
export type EngineAnswer =
  | { readonly output: string; readonly notes: string }
  /** Its words on stderr; exit code 3 is a filter that does not compile, 0 an end that jq did not mean. */
  | { readonly failure: string; readonly exitCode: number };

/** jq in a thread of its own: a filter that never ends must not keep Ctrl-C from being heard. */
export class JqEngine {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;

  private constructor(worker: Worker, signal: AbortSignal) {
    this.#worker = worker;
    this.#signal = signal;
  }

  /** Starts the thread. It ends with `close`, or when `signal` aborts. */
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
    signal.addEventListener('abort', () => void worker.terminate(), { once: true });
    try {
      await engine.#next();
      return engine;
    } catch (error) {
      await worker.terminate();
      throw error;
    }
  }

  /** Runs a filter over JSON texts, one a line; the answer has one a line too. One run at a time. */
  async run(input: string, filter: string): Promise<EngineAnswer> {
    this.#signal.throwIfAborted();
    this.#worker.postMessage({ input, filter }, []);
    return (await this.#next()) as EngineAnswer;
  }

  /** Ends the thread, whatever it does. */
  async close(): Promise<void> {
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
  return new SvcError('expression', 'jq came to an end while it worked on --jq', {
    hint: 'The expression may need more memory than there is; ask for less at once.',
    cause,
  });
}
