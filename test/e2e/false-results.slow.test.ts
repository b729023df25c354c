import { existsSync, readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { captureResponse } from '../../src/emulator/faults/intercept.ts';
import type { Interceptor } from '../../src/emulator/options.ts';
import { openQuickDesk, type QuickDesk } from '../au/commands/support.ts';

/** Sends a wrong body with status 200. The headers of the correct response are already set. */
type FalseResponse = (outgoing: ServerResponse, body: Buffer) => void;

/** Returns the file with its last row cut in the middle. */
const withCutRow = (body: Buffer): Buffer => body.subarray(0, body.length - 9);
/** Returns the file without its last row. Only its checksum reveals that the row is missing. */
const withoutLastRow = (body: Buffer): Buffer => body.subarray(0, body.lastIndexOf(10, body.length - 2) + 1);

function sendAs(type: string, text: string): FalseResponse {
  return (outgoing) => {
    outgoing.removeHeader('etag');
    outgoing.setHeader('content-type', type);
    outgoing.setHeader('content-length', text.length).end(text);
  };
}

const FALSE_RESPONSES: Readonly<Record<string, FalseResponse>> = {
  'chunks without the last row, with the MD5 of the whole file': (outgoing, body) => {
    outgoing.removeHeader('content-length');
    outgoing.write(withoutLastRow(body));
    outgoing.end();
  },
  'a shorter content-length, with the MD5 of the whole file': (outgoing, body) =>
    void outgoing.setHeader('content-length', withoutLastRow(body).length).end(withoutLastRow(body)),
  'chunks that end within the last line, without an MD5': (outgoing, body) => {
    outgoing.removeHeader('content-length');
    outgoing.removeHeader('etag');
    outgoing.write(body.subarray(0, body.length - 3));
    outgoing.end();
  },
  'a last row that lacks columns, without an MD5': (outgoing, body) => {
    outgoing.removeHeader('etag');
    const lastCell = withCutRow(body).lastIndexOf(44);
    outgoing.setHeader('content-length', lastCell).end(body.subarray(0, lastCell));
  },
  'an HTML page': sendAs('text/html', '<html><body>Welcome to our network</body></html>\n'),
  'an XML error': sendAs('application/xml', '<Error><Code>SlowDown</Code></Error>\n'),
  'a JSON error': sendAs('application/problem+json', '{"title":"gateway"}\n'),
  'an empty body': sendAs('text/csv', ''),
};

interface Store {
  isFalse: boolean;
  /** The correct file, as the store would have sent it. */
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

/** A command that downloads results. */
interface Command {
  /** The command line to run first. */
  readonly preparation: string;
  /** Returns the words of the command, with the id of the submitted job. */
  readonly words: (desk: QuickDesk) => readonly string[];
  /** The file to which the command writes the results. */
  readonly results: string;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  'au submit --wait': {
    preparation: 'au check tokens.csv',
    words: () => ['au', 'submit', 'tokens.csv', '--wait'],
    results: 'tokens.results.csv',
  },
  'au resume <cycle> --wait': {
    preparation: 'au submit tokens.csv --cycle month',
    words: () => ['au', 'resume', 'month', '--wait'],
    results: 'month.results.csv',
  },
  'au resume': { preparation: 'au submit tokens.csv', words: () => ['au', 'resume'], results: 'tokens.results.csv' },
  'au download': {
    preparation: 'au submit tokens.csv',
    words: (desk) => ['au', 'download', desk.jobs()[0] ?? '', '--out', 'job.csv'],
    results: 'job.csv',
  },
};

/** Runs a command against a store that sends a false response, then again once the store sends the correct file. */
async function runTwice(sendFalse: FalseResponse, { preparation, words, results }: Command): Promise<unknown> {
  const store = storeThatSends(sendFalse);
  const desk = await openQuickDesk({ intercept: store.intercept, pickupMs: 0 });
  await desk.svc(preparation);
  const first = await desk.svc(words(desk));
  const firstWroteFile = existsSync(desk.home.file(results));
  const firstKeptResults = desk.jobs().some((job) => existsSync(desk.files(job).results));
  const firstDownloads = desk.sandbox.ledger().filter(({ path }) => path.startsWith('/store/results/')).length;
  store.isFalse = false;
  const second = await desk.svc(words(desk));
  const isFileCorrect = readFileSync(desk.home.file(results)).equals(store.file);
  return {
    firstExitCode: first.code,
    firstWroteFile,
    firstKeptResults,
    firstDownloads,
    secondExitCode: second.code,
    isFileCorrect,
    uploads: desk.uploads(),
  };
}

it.each(Object.entries(COMMANDS))(
  'R59, R46 and R47: false results are refused by %s with exit code 12, and repeating the command downloads the correct file without another upload',
  async (_, command) => {
    const outcome = {
      firstExitCode: 12,
      firstWroteFile: false,
      firstKeptResults: false,
      firstDownloads: 3,
      secondExitCode: 0,
      isFileCorrect: true,
      uploads: 1,
    };
    for (const [name, send] of Object.entries(FALSE_RESPONSES))
      expect(await runTwice(send, command), name).toEqual(outcome);
  },
);
