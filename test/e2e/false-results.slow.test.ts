import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { captureResponse } from '../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { openQuickDesk, type QuickDesk } from '../au/commands/support.ts';

/** Sends something else than the result file, with status 200. The head of the right response is set. */
type FalseResponse = (outgoing: ServerResponse, body: Buffer) => void;

/** The file without the end of its last row. */
const cut = (body: Buffer): Buffer => body.subarray(0, body.length - 9);
/** The file without its last row: only its checksum shows it. */
const shortened = (body: Buffer): Buffer => body.subarray(0, body.lastIndexOf(10, body.length - 2) + 1);

function sendAs(type: string, text: string): FalseResponse {
  return (outgoing) => {
    outgoing.removeHeader('etag');
    outgoing.setHeader('content-type', type);
    outgoing.setHeader('content-length', text.length).end(text);
  };
}

const FALSE_RESPONSES: Readonly<Record<string, FalseResponse>> = {
  'fewer chunks than the MD5 is of': (outgoing, body) => {
    outgoing.removeHeader('content-length');
    outgoing.write(shortened(body));
    outgoing.end();
  },
  'a length shorter than the MD5 is of': (outgoing, body) =>
    void outgoing.setHeader('content-length', shortened(body).length).end(shortened(body)),
  'a last line that is cut, in chunks without an MD5': (outgoing, body) => {
    outgoing.removeHeader('content-length');
    outgoing.removeHeader('etag');
    outgoing.write(body.subarray(0, body.length - 3));
    outgoing.end();
  },
  'a last row without all its columns': (outgoing, body) => {
    outgoing.removeHeader('etag');
    const lastCell = cut(body).lastIndexOf(44);
    outgoing.setHeader('content-length', lastCell).end(body.subarray(0, lastCell));
  },
  'an HTML page': sendAs('text/html', '<html><body>Welcome to our network</body></html>\n'),
  'an XML error': sendAs('application/xml', '<Error><Code>SlowDown</Code></Error>\n'),
  'a JSON error': sendAs('application/problem+json', '{"title":"gateway"}\n'),
  'an empty body': sendAs('text/csv', ''),
};

interface Store {
  isFalse: boolean;
  /** The file as the store has it. */
  file: Buffer;
  readonly intercept: Interceptor;
}

function storeThatSends(sendFalse: FalseResponse): Store {
  const store: Store = {
    isFalse: true,
    file: Buffer.alloc(0),
    intercept(incoming, outgoing, proceed) {
      const isResult = incoming.method === 'GET' && (incoming.url ?? '').startsWith('/store/results/');
      if (isResult && store.isFalse)
        captureResponse(outgoing, (body) => {
          store.file = body;
          sendFalse(outgoing, body);
        });
      proceed();
    },
  };
  return store;
}

/** What a user of one command sees while the store sends something false, and once it sends the file. */
interface Command {
  readonly submit: string;
  /** The words of the command, for the run or the job that was submitted. */
  readonly command: (desk: QuickDesk) => readonly string[];
  readonly results: string;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'au submit --wait': {
    submit: 'au check tokens.csv',
    command: () => ['au', 'submit', 'tokens.csv', '--wait'],
    results: 'tokens.results.csv',
  },
  'au wait': {
    submit: 'au submit tokens.csv',
    command: (desk) => ['au', 'wait', desk.runIds()[0] ?? ''],
    results: 'tokens.results.csv',
  },
  'au sync': {
    submit: 'au submit tokens.csv',
    command: () => ['au', 'sync', '--exec', 'cat "$SVC_RESULTS" >> seen'],
    results: 'seen',
  },
  'au download': {
    submit: 'au submit tokens.csv',
    command: (desk) => {
      const [{ job = '' } = {}] = desk.record(desk.runIds()[0] ?? '').parts;
      return ['au', 'download', job, '--out', 'job.csv'];
    },
    results: 'job.csv',
  },
};

/** What became of one false response. */
async function play(sendFalse: FalseResponse, { submit, command, results }: Command): Promise<unknown> {
  const store = storeThatSends(sendFalse);
  const desk = await openQuickDesk({ intercept: store.intercept, pickupMs: 0 });
  await desk.svc(submit);
  const refused = await desk.svc(command(desk));
  const isThere = existsSync(desk.home.file(results));
  const states = desk.runIds().flatMap((run) => desk.record(run).parts.map(({ state }) => state));
  const fetched = desk.sandbox.ledger().filter(({ path }) => path.startsWith('/store/results/')).length;
  store.isFalse = false;
  const repaired = await desk.svc(command(desk));
  const isRight = readFileSync(desk.home.file(results)).equals(store.file);
  const isRecorded = states.includes('downloaded');
  return {
    refused: refused.code,
    isThere,
    isRecorded,
    fetched,
    repaired: repaired.code,
    isRight,
    uploads: desk.uploads(),
  };
}

describe('a result that is not the file', () => {
  it.each(Object.entries(COMMANDS))(
    'R59, R46 and R47: a result that is not the file is refused by %s with exit code 12, and the right one is taken later, paid once',
    async (_, command) => {
      const outcome = {
        refused: 12,
        isThere: false,
        isRecorded: false,
        fetched: 3,
        repaired: 0,
        isRight: true,
        uploads: 1,
      };
      for (const [name, send] of Object.entries(FALSE_RESPONSES))
        expect(await play(send, command), name).toEqual(outcome);
    },
    90_000,
  );
});
